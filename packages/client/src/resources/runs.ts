import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import { openExport } from '../open-export.ts'
import type { RequestOptions, TailOptions } from '../options.ts'
import { path } from '../path.ts'
import { tailRuns } from '../tail-runs.ts'
import type { ExportRuns, Id, ListRuns, Run, RunDetail } from '../types.ts'

const root = '/api/v1/scheduler/runs'

/** The activity log: one run for each attempt. */
export type Runs = ReturnType<typeof runsOf>

export function runsOf(http: Http) {
  return {
    /** Newest first. */
    list: (filters: ListRuns = {}, options?: RequestOptions): List<Run> => list(http, root, filters, options),

    /** A run with its full request and response. */
    get: (id: Id, options?: RequestOptions): Promise<RunDetail> =>
      http.json({ method: 'GET', path: path`/api/v1/scheduler/runs/${id}`, options }),

    /**
     * New runs, about a second after their end, for as long as they are asked for: `for await (const run of
     * belfry.runs.tail())`. Comes back by itself when the connection breaks, and then goes on where it was.
     */
    tail: (options?: TailOptions): AsyncGenerator<Run> => tailRuns(http, `${root}/stream`, options),

    /** The file as it comes in, as long as the list is: `new Response(await belfry.runs.export()).text()` gives it all. */
    export: (filters: ExportRuns = {}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> =>
      openExport(http, `${root}/export`, filters, options),
  }
}
