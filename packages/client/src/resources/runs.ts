import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import { openExport } from '../open-export.ts'
import type { RequestOptions, TailOptions } from '../options.ts'
import { path } from '../path.ts'
import { tailRuns } from '../tail-runs.ts'
import type {
  ExportRuns,
  Id,
  ListRuns,
  Run,
  RunCounts,
  RunCountsQuery,
  RunDetail,
  RunFailures,
  RunFailuresQuery,
  RunPage,
} from '../types/index.ts'

const root = '/api/v1/scheduler/runs'

/** The activity log: one run per attempt. */
export type Runs = ReturnType<typeof runsOf>

export function runsOf(http: Http) {
  return {
    /** Lists runs, newest first. */
    list: (filters: ListRuns = {}, options?: RequestOptions): List<Run, RunPage> => list(http, root, filters, options),

    /** Returns a run with its full request and response. */
    get: (id: Id, options?: RequestOptions): Promise<RunDetail> =>
      http.get(path`/api/v1/scheduler/runs/${id}`, options),

    /** Returns the failed runs of a time, the latest 10,000 of them, grouped by host, error and response status. */
    failures: (query: RunFailuresQuery = {}, options?: RequestOptions): Promise<RunFailures> =>
      http.get(`${root}/failures`, options, query),

    /** Counts the runs of a time by outcome. Default: the last 24 hours, in steps of 30 minutes. */
    counts: (query: RunCountsQuery = {}, options?: RequestOptions): Promise<RunCounts> =>
      http.get(`${root}/counts`, options, query),

    /**
     * Yields new runs, about a second after their end: `for await (const run of belfry.runs.tail())`. Reconnects when the
     * connection breaks, and resumes after the last run.
     */
    tail: (options?: TailOptions): AsyncGenerator<Run> => tailRuns(http, `${root}/stream`, options),

    /** Exports runs as a stream: `new Response(await belfry.runs.export()).text()` reads all of it. */
    export: (filters: ExportRuns = {}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> =>
      openExport(http, `${root}/export`, filters, options),
  }
}
