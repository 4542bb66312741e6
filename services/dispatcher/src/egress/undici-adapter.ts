import type { AxiosAdapter, AxiosResponse } from 'axios'
import type { Dispatcher } from 'undici'
import { DeadlineError, InvalidRequestError, InvalidResponseError } from './call-errors.ts'
import type { Connect } from './connect.ts'
import { type Connections, createConnections } from './connections.ts'
import type { ResponseOutcome } from './outcome.ts'
import type { OutgoingRequest } from './send.ts'

declare module 'axios' {
  interface AxiosRequestConfig {
    /**
     * What goes out, as it is: axios' own headers strip and drop characters and names silently. In an array, because of
     * anything else axios would make a copy, member by member.
     */
    outgoing?: [OutgoingRequest]
  }
}

class BodyTooLongError extends Error {}

/** A transport for axios whose answers carry a ResponseOutcome as their data. */
export type UndiciAdapter = {
  adapter: AxiosAdapter
  /** Closes all connections, also those in use, and lets none be opened again. */
  close(): Promise<void>
}

const maxBodyBytes = 64 * 1024
const maxInformational = 100

/** Builds the transport: one deadline for the whole exchange, no redirect, no proxy, no decompression, no second try. */
export function createUndiciAdapter(connect: Connect): UndiciAdapter {
  const connections = createConnections(connect)

  async function adapter(config: Parameters<AxiosAdapter>[0]): Promise<AxiosResponse<ResponseOutcome>> {
    const [outgoing] = config.outgoing ?? []
    if (outgoing === undefined) throw new InvalidRequestError()
    const { method, headers, body, timeoutMs } = outgoing
    const { origin, path } = parseTarget(outgoing.url)
    const request = { path, method: method.toUpperCase(), headers, body }
    const data = await exchange(connections, origin, request, timeoutMs)
    return { data, status: data.status, statusText: '', headers: {}, config }
  }

  return { adapter, close: connections.close }
}

type Target = { origin: string; path: string }

function parseTarget(text: string): Target {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new InvalidRequestError()
  return { origin: url.origin, path: url.pathname + url.search }
}

function exchange(
  connections: Connections,
  origin: string,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
): Promise<ResponseOutcome> {
  const connection = connections.take(origin)
  connection.expectResponse()
  const chunks: Buffer[] = []
  let head: Pick<ResponseOutcome, 'status' | 'headers'> | null = null
  let informational = 0
  let bodyBytes = 0
  let isOver = false

  return new Promise((resolve, reject) => {
    // A process that was blocked or frozen reads what has come meanwhile before it says that nothing came in time.
    const deadline = setTimeout(() => setImmediate(endInTime), timeoutMs)

    // Who connects knows whether it was the target that took so long.
    function endInTime(): void {
      if (connection.opening) connection.opening.abort(new DeadlineError())
      else finish(new DeadlineError())
    }

    function finish(error: Error | null): void {
      if (isOver) return
      isOver = true
      clearTimeout(deadline)
      if (error === null && head && !announcesForbiddenBody(head)) connections.giveBack(connection)
      else connections.discard(connection)
      if (head === null) reject(error)
      else resolve({ kind: 'response', ...head, body: Buffer.concat(chunks), bodyBytes, bodyTruncated: error !== null })
    }

    connection.client.dispatch(request, {
      onRequestStart() {}, // its presence selects this form of handler
      onResponseStart(_, status, headers) {
        if (status >= 200) head = { status, headers: headers as ResponseOutcome['headers'] }
        else if (++informational > maxInformational) finish(new InvalidResponseError())
      },
      onResponseData(_, chunk) {
        if (isOver) return
        if (bodyBytes < maxBodyBytes) chunks.push(chunk.subarray(0, maxBodyBytes - bodyBytes))
        bodyBytes += chunk.length
        if (bodyBytes > maxBodyBytes) finish(new BodyTooLongError())
      },
      onResponseEnd: () => finish(null),
      onResponseError: (_, error) => finish(error),
    })
  })
}

// These have no body, so one that is announced all the same would be read as the answer to the next request. A length
// that is announced and not kept is seen by the client itself.
function announcesForbiddenBody({ status, headers }: Pick<ResponseOutcome, 'status' | 'headers'>): boolean {
  return (status === 204 || status === 304) && 'transfer-encoding' in headers
}
