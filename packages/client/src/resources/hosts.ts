import type { Http } from '../http.ts'
import type { RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import type { Hosts as HostList } from '../types/index.ts'

/** The hosts that tasks call, with their circuit breakers. */
export type Hosts = ReturnType<typeof hostsOf>

export function hostsOf(http: Http) {
  return {
    /** Lists the hosts of the last hour, with their health and their waiting tasks. */
    list: (options?: RequestOptions): Promise<HostList> => http.get('/api/v1/scheduler/hosts', options),

    /**
     * Closes the circuit breaker of a host, such as `example.com:8443`, so its waiting tasks start at once. Throws
     * `NotFoundError` when the breaker is not open. `dispatchers` is the number of dispatchers that close it.
     */
    reset: (host: string, options?: RequestOptions): Promise<{ dispatchers: number }> =>
      http.post(path`/api/v1/scheduler/hosts/${host}/reset`, undefined, options),
  }
}
