import type { Http } from '../http.ts'
import type { RequestOptions } from '../options.ts'
import type { Status as Answer } from '../types/index.ts'

/** Whether Belfry delivers. */
export type Status = ReturnType<typeof statusOf>

export function statusOf(http: Http) {
  return {
    /** Returns whether dispatchers, schedulers and the queue are running, by their heartbeats. */
    get: (options?: RequestOptions): Promise<Answer> => http.get('/api/v1/scheduler/status', options),
  }
}
