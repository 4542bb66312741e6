import { Resources } from './generated/resources.ts'
import { createHttp, type Http, type RawRequest } from './http.ts'
import type { BelfryOptions } from './options.ts'
import type { Method } from './types/index.ts'

/**
 * A client of a Belfry installation.
 *
 * @example
 * const belfry = new Belfry() // reads BELFRY_API_KEY and BELFRY_URL
 * await belfry.tasks.create({
 *   targetUrl: 'https://example.com/hooks/trial-ends',
 *   delay: '3d',
 *   payload: { user: 42 },
 * })
 */
export class Belfry extends Resources {
  readonly #http: Http

  /** Throws a `TypeError` without a key or a token. Sends no request. */
  constructor(options: BelfryOptions = {}) {
    const http = createHttp(options)
    super(http)
    this.#http = http
  }

  /**
   * Calls any operation of the HTTP API, with the client's credential, retries and errors. Requests and responses have the
   * names of the HTTP API. Only `GET`, `PUT` and requests with an `idempotencyKey` are retried when it is unknown
   * whether they took effect.
   *
   * @example
   * await belfry.request('GET', '/api/v1/workspaces/current/integrations')
   */
  request<T = unknown>(method: Method, path: string, request: RawRequest = {}): Promise<T> {
    return this.#http.raw(method, path, request)
  }
}
