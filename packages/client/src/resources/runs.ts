import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { RequestOptions } from '../options.ts'
import type { Id, ListRuns, Run, RunDetail } from '../types.ts'

const path = '/api/v1/scheduler/runs'

/** The activity log: one run for each attempt. */
export type Runs = ReturnType<typeof runsOf>

export function runsOf(http: Http) {
  return {
    /** Newest first. */
    list: (filters: ListRuns = {}, options?: RequestOptions): List<Run> => list(http, path, filters, options),

    /** A run with its full request and response. */
    get: (id: Id, options?: RequestOptions): Promise<RunDetail> =>
      http.json({ method: 'GET', path: `${path}/${id}`, options }),
  }
}
