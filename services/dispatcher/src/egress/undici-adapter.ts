import { parseUrl } from '@belfry/domain'
import type { AxiosAdapter, AxiosResponse } from 'axios'
import type { Dispatcher } from 'undici'
import { DeadlineError, InvalidRequestError, InvalidResponseError } from './call-errors.ts'
import type { Connect } from './connect.ts'
import { type Connection, type Connections, createConnections } from './connections.ts'
import type { ResponseOutcome } from './outcome.ts'
import type { OutgoingRequest } from './send.ts'

declare module 'axios' {
  interface AxiosRequestConfig {
    /** What goes out, as it is: axios' own headers strip and drop characters and names silently. */
    outgoing?: OutgoingRequest
  }
}

class BodyTooLongError extends Error {}

/** A transport for axios whose answers carry a ResponseOutcome as their data. */
export type UndiciAdapter = {
  adapter: (...of: Parameters<AxiosAdapter>) => Promise<AxiosResponse<ResponseOutcome>>
  /** Closes all connections, also those in use, and lets none be opened again. */
  close(): Promise<void>
}

const maxBodyBytes = 64 * 1024
const maxInformational = 100

/** Builds the transport: one deadline for the whole exchange, no redirect, no proxy, no decompression, no second try. */
export function createUndiciAdapter(connect: Connect): UndiciAdapter {
  const connections = createConnections(connect)

  function adapter(config: Parameters<AxiosAdapter>[0]): Promise<AxiosResponse<ResponseOutcome>> {
    return new Promise((resolve, reject) => {
      const { outgoing } = config
      if (outgoing === undefined) throw new InvalidRequestError()
      const { method, headers, body, timeoutMs } = outgoing
      const { origin, path } = parseTarget(outgoing.url)
      const answer = (data: ResponseOutcome) =>
        resolve({ data, status: data.status, statusText: '', headers: {}, config })
      const exchange = new Exchange(connections, connections.take(origin), { answer, reject })
      exchange.start({ path, method: method.toUpperCase(), headers, body }, timeoutMs)
    })
  }

  return { adapter, close: connections.close }
}

function parseTarget(text: string): { origin: string; path: string } {
  const url = parseUrl(text)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new InvalidRequestError()
  return { origin: url.origin, path: url.pathname + url.search }
}

type Ends = { answer: (outcome: ResponseOutcome) => void; reject: (error: Error | null) => void }

/** One request and its answer, on a connection of its own. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #connections: Connections
  readonly #connection: Connection
  readonly #ends: Ends
  readonly #chunks: Buffer[] = []
  #deadline: NodeJS.Timeout | undefined
  #head: Pick<ResponseOutcome, 'status' | 'headers'> | null = null
  #informational = 0
  #bodyBytes = 0
  #isOver = false

  constructor(connections: Connections, connection: Connection, ends: Ends) {
    this.#connections = connections
    this.#connection = connection
    this.#ends = ends
  }

  start(request: Dispatcher.DispatchOptions, timeoutMs: number): void {
    this.#connection.expectResponse()
    // A process that was blocked or frozen reads what has come meanwhile before it says that nothing came in time.
    this.#deadline = setTimeout(() => setImmediate(() => this.#endInTime()), timeoutMs)
    this.#connection.client.dispatch(request, this)
  }

  onRequestStart(): void {} // its presence selects this form of handler

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseOutcome['headers']): void {
    if (status >= 200) this.#head = { status, headers }
    else if (++this.#informational > maxInformational) this.#finish(new InvalidResponseError())
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#bodyBytes < maxBodyBytes) this.#chunks.push(chunk.subarray(0, maxBodyBytes - this.#bodyBytes))
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes > maxBodyBytes) this.#finish(new BodyTooLongError())
  }

  onResponseEnd(): void {
    this.#finish(null)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#finish(error)
  }

  // Who connects knows whether it was the target that took so long.
  #endInTime(): void {
    const { opening } = this.#connection
    if (opening) opening.abort(new DeadlineError())
    else this.#finish(new DeadlineError())
  }

  #finish(error: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#deadline)
    const head = this.#head
    if (error === null && head && !announcesForbiddenBody(head)) this.#connections.giveBack(this.#connection)
    else this.#connections.discard(this.#connection)
    if (head === null) this.#ends.reject(error)
    else this.#ends.answer(toOutcome(head, this.#chunks, this.#bodyBytes, error !== null))
  }
}

function toOutcome(
  { status, headers }: Pick<ResponseOutcome, 'status' | 'headers'>,
  chunks: Buffer[],
  bodyBytes: number,
  bodyTruncated: boolean,
): ResponseOutcome {
  return { kind: 'response', status, headers, body: Buffer.concat(chunks), bodyBytes, bodyTruncated }
}

// These have no body, so one that is announced all the same would be read as the answer to the next request. A length
// that is announced and not kept is seen by the client itself.
function announcesForbiddenBody({ status, headers }: Pick<ResponseOutcome, 'status' | 'headers'>): boolean {
  return (status === 204 || status === 304) && 'transfer-encoding' in headers
}
