import type { RunTimings } from '@belfry/domain/run-timings'
import { parseUrl } from '@belfry/domain/target-url'
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { LRUCache } from 'lru-cache'
import { type Dispatcher, errors } from 'undici'
import { CallFailure, FailedCallError, WithheldError } from './call-errors.ts'
import type { Connect } from './connect.ts'
import { type Connection, type Connections, createConnections } from './connections.ts'
import type { ResponseOutcome } from './outcome.ts'
import { faultOfResponse, invalidHttp, isConnectionLoss } from './outcome-of-error.ts'

declare module 'axios' {
  interface AxiosRequestConfig {
    /** The names and values of the headers, alternating, exactly as they are sent: axios rewrites its own headers. */
    headerLines?: string[]
    gate?: WriteGate | null
  }
}

/** Decides right before the first byte is written. Each call asks it on the connection that is ready. */
export type WriteGate = {
  /** Returns why the request must not be sent any more; null when it may be. */
  refusal(): string | null
}

const maxInformational = 100
const tooManyResponses = invalidHttp('more than a hundred informational responses')
// A timer that fires this late: the process was blocked.
const blockedMs = 100
const maxGraceMs = 1_000
// When the target closed a connection before it read the request, the end arrives within a round trip.
const staleWithinMs = 1_000

/**
 * Creates the transport of axios: one deadline for the whole exchange, without redirects, decompression or retries. The
 * responses carry a ResponseOutcome as their data.
 */
export function createUndiciAdapter(connect: Connect) {
  const connections = createConnections(connect)

  function adapter(config: InternalAxiosRequestConfig): Promise<AxiosResponse<ResponseOutcome>> {
    return new Promise((resolve, reject) => {
      const { url = '', method = '', headerLines, data, timeout = 0, maxContentLength = 0, gate = null } = config
      if (config.maxRedirects !== 0 || config.proxy !== false)
        throw new Error('The adapter supports neither redirects nor proxies.')
      const { origin, path } = parseTarget(url)
      const answer = (data: ResponseOutcome) =>
        resolve({ data, status: data.status, statusText: '', headers: {}, config })
      const request = { path, method: method.toUpperCase(), headers: headerLines ?? null, body: data }
      const call = { connections, origin, request, maxBodyBytes: maxContentLength, gate, answer, reject }
      new Exchange(call).start(timeout)
    })
  }

  return { adapter, close: connections.close }
}

// Thousands of calls have the same URL.
const targets = new LRUCache<string, { origin: string; path: string }>({ max: 1_000 })

function parseTarget(text: string): { origin: string; path: string } {
  const known = targets.get(text)
  if (known) return known
  const url = parseUrl(text)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new errors.InvalidArgumentError()
  const target = { origin: url.origin, path: url.pathname + (text.includes("'") ? queryOf(text) : url.search) }
  targets.set(text, target)
  return target
}

// `URL` encodes an apostrophe in a query. Services that sign or compare the URL as text refuse that.
function queryOf(text: string): string {
  const [, query] = /\?([^#]*)/.exec(text) ?? []
  if (query === undefined) return ''
  return `?${query
    .split("'")
    .map(part => new URL(`http://a/?${part}`).search.slice(1))
    .join("'")}`
}

type Call = {
  connections: Connections
  origin: string
  request: Dispatcher.DispatchOptions
  maxBodyBytes: number
  gate: WriteGate | null
  answer: (outcome: ResponseOutcome) => void
  reject: (error: FailedCallError) => void
}

/** One request and its response. The connection is exclusive to it. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: Call
  readonly #chunks: Buffer[] = []
  #connection: Connection
  #deadline: NodeJS.Timeout | undefined
  #head: Head | null = null
  #informational = 0
  #bodyBytes = 0
  #sentAt: number | null = null
  #isOver = false

  constructor(call: Call) {
    this.#call = call
    this.#connection = call.connections.take(call.origin)
  }

  start(timeoutMs: number): void {
    const endsAt = performance.now() + timeoutMs
    this.#deadline = setTimeout(() => this.#reachDeadline(performance.now() - endsAt), timeoutMs)
    this.#dispatch()
  }

  // A process that was blocked or frozen gets some of the lost time back, and it first reads the data that has arrived
  // meanwhile.
  #reachDeadline(lateMs: number): void {
    const end = () => setImmediate(() => this.#endInTime())
    if (lateMs < blockedMs) end()
    else this.#deadline = setTimeout(end, Math.min(lateMs, maxGraceMs))
  }

  #dispatch(): void {
    this.#connection.opened = null
    this.#connection.received.expectResponse()
    this.#connection.client.dispatch(this.#call.request, this)
  }

  // undici calls this right before it writes the first byte, and does not write when it throws.
  onRequestStart(): void {
    const refusal = this.#call.gate?.refusal() ?? null
    if (refusal !== null) throw new WithheldError(refusal)
    this.#sentAt = performance.now()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseOutcome['headers']): void {
    if (status >= 200) this.#head = { status, headers, note: null }
    else if (++this.#informational > maxInformational)
      this.#finish(new CallFailure('invalid_response', tooManyResponses))
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    const left = this.#call.maxBodyBytes - this.#bodyBytes
    if (left > 0) this.#chunks.push(chunk.subarray(0, left))
    this.#bodyBytes += chunk.length
    if (chunk.length > left) this.#finish(new Error('The body is too long.'))
  }

  onResponseEnd(): void {
    this.#finish(null)
  }

  onResponseError(_: Dispatcher.DispatchController, given: Error): void {
    // undici reports the end of a connection instead of the TLS alert before it.
    const error = this.#connection.firstError ?? given
    const isOfKept = this.#connection.responses > 0 && isConnectionLoss(error)
    if (this.#isOver || !isOfKept) this.#finish(error)
    else if (this.#sentAt === null) this.#useAnother(error)
    else if (this.#connection.received.firstByteAt === null && performance.now() - this.#sentAt < staleWithinMs)
      this.#endStale()
    else this.#finish(error)
  }

  // The request was not written yet, so it is not sent twice.
  #useAnother(error: Error): void {
    const { connections, origin } = this.#call
    connections.discard(this.#connection)
    if (connections.isClosed) {
      this.#finish(error)
    } else {
      this.#connection = connections.take(origin)
      this.#dispatch()
    }
  }

  // The target may have received the request, so it is not sent again here. The next attempt does that.
  #endStale(): void {
    this.#call.connections.distrust(this.#call.origin)
    this.#finish(new CallFailure('stale_connection'))
  }

  // While a connection is being opened, the code that connects decides whether the target was too slow.
  #endInTime(): void {
    const { opening } = this.#connection
    const error = new CallFailure('timeout')
    if (opening) opening.abort(error)
    else this.#finish(error)
  }

  #finish(error: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#deadline)
    const { connections, answer, reject } = this.#call
    const head = this.#head ?? this.#headInSpiteOf(error)
    const timings = this.#timings()
    if (error === null && head && !announcesForbiddenBody(head))
      connections.release(this.#connection, head.headers['keep-alive']?.toString())
    else connections.discard(this.#connection)
    if (head === null) {
      reject(new FailedCallError(timings, error))
      return
    }
    const { status, headers, note } = head
    const body = Buffer.concat(this.#chunks)
    const bodyTruncated = error !== null && !hasNoBody(status)
    answer({ kind: 'response', status, headers, body, bodyBytes: this.#bodyBytes, bodyTruncated, note, timings })
  }

  // The target has decided, even if its headers are not valid.
  #headInSpiteOf(error: Error | null): Head | null {
    const status = this.#connection.received.status
    const fault = status === null ? null : faultOfResponse(error)
    if (status === null || fault === null) return null
    return { status, headers: {}, note: `The headers of the response could not be read (${fault}).` }
  }

  // Null before the end of the DNS lookup. A kept-alive connection skips the lookup.
  #timings(): RunTimings | null {
    const { opened } = this.#connection
    if (opened ? opened.dnsMs === null : this.#sentAt === null) return null
    const firstByteAt = this.#connection.received.firstByteAt
    const firstByteMs = firstByteAt === null || this.#sentAt === null ? null : Math.round(firstByteAt - this.#sentAt)
    return {
      dnsMs: opened?.dnsMs ?? null,
      connectMs: opened?.connectMs ?? null,
      tlsMs: opened?.tlsMs ?? null,
      firstByteMs,
    }
  }
}

type Head = Pick<ResponseOutcome, 'status' | 'headers' | 'note'>

// A body that is announced all the same would be read as the response to the next request. undici itself detects a wrong
// Content-Length.
function announcesForbiddenBody({ status, headers }: Head): boolean {
  return hasNoBody(status) && 'transfer-encoding' in headers
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 304
}
