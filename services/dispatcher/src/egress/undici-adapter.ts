import type { Socket } from 'node:net'
import type { AxiosAdapter } from 'axios'
import { Client, type Dispatcher, errors } from 'undici'
import type { Connect } from './guard-address.ts'
import type { ResponseOutcome } from './outcome.ts'

declare module 'axios' {
  interface AxiosRequestConfig {
    /** Names and values in turn. They go round axios' own headers, which strip and drop characters and names silently. */
    headerLines?: string[]
  }
}

export class DeadlineError extends Error {}
export class InvalidResponseError extends Error {}
export class InvalidRequestError extends Error {}
class BodyTooLongError extends Error {}

/** A transport for axios whose answers carry a ResponseOutcome as their data. */
export type UndiciAdapter = {
  adapter: AxiosAdapter
  /** Closes all connections, also those in use, and lets none be opened again. */
  close(): Promise<void>
}

type Connection = { readonly origin: string; readonly client: Client; connecting: Socket | null }
type Connections = ReturnType<typeof createConnections>

const maxBodyBytes = 64 * 1024
const maxHeaderBytes = 16 * 1024
const maxInformational = 100
const idleConnectionMs = 30_000
const maxIdleConnections = 512

/** Builds the transport: one deadline for the whole exchange, no redirect, no proxy, no decompression, no second try. */
export function createUndiciAdapter(connect: Connect): UndiciAdapter {
  const connections = createConnections(connect)

  async function adapter(config: Parameters<AxiosAdapter>[0]) {
    const { method = 'get', headerLines = [], timeout = 0 } = config
    const url = parseTarget(config.url ?? '')
    const path = url.pathname + url.search
    const request = { path, method: method.toUpperCase(), headers: headerLines, body: config.data }
    const data = await exchange(connections, url.origin, request, timeout)
    return { data, status: data.status, statusText: '', headers: {}, config }
  }

  return { adapter, close: connections.close }
}

function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new InvalidRequestError()
  return url
}

function exchange(
  connections: Connections,
  origin: string,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
): Promise<ResponseOutcome> {
  const connection = connections.take(origin)
  const chunks: Buffer[] = []
  let head: Pick<ResponseOutcome, 'status' | 'headers'> | null = null
  let informational = 0
  let bodyBytes = 0
  let isOver = false

  return new Promise((resolve, reject) => {
    // A process that was blocked or frozen reads what has come meanwhile before it says that nothing came in time.
    const deadline = setTimeout(() => setImmediate(finish, new DeadlineError()), timeoutMs)

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

// These have no body, so one that is announced all the same would be read as the answer to the next request.
function announcesForbiddenBody({ status, headers }: Pick<ResponseOutcome, 'status' | 'headers'>): boolean {
  return (status === 204 || status === 304) && 'transfer-encoding' in headers
}

/**
 * Keeps connections warm after use, each for a bounded time and all together in bounded number. One request holds one
 * connection, and whatever does not end cleanly takes its connection with it.
 */
function createConnections(connect: Connect) {
  const all = new Set<Connection>()
  const idle = new Map<string, Connection[]>() // by origin, the one used longest ago first
  let idleCount = 0
  let isClosed = false

  function open(origin: string): Connection {
    const client = new Client(origin, {
      pipelining: 1,
      keepAliveTimeout: idleConnectionMs,
      keepAliveMaxTimeout: idleConnectionMs,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 0, // the deadline of the exchange rules
      bodyTimeout: 0,
      connect(target, callback) {
        connection.connecting = connect(target, (...result) => {
          connection.connecting = null
          callback(...result)
        })
      },
    })
    const connection: Connection = { origin, client, connecting: null }
    all.add(connection)
    client.on('disconnect', () => {
      if (remove(connection)) discard(connection)
    })
    return connection
  }

  function remove(connection: Connection): boolean {
    const siblings = idle.get(connection.origin) ?? []
    const index = siblings.lastIndexOf(connection)
    if (index === -1) return false
    siblings.splice(index, 1)
    if (siblings.length === 0) idle.delete(connection.origin)
    idleCount -= 1
    return true
  }

  function discard(connection: Connection): void {
    all.delete(connection)
    connection.client.destroy(() => {})
    connection.connecting?.destroy()
  }

  return {
    discard,

    take(origin: string): Connection {
      if (isClosed) throw new errors.ClientDestroyedError()
      const newest = idle.get(origin)?.at(-1)
      if (newest === undefined) return open(origin)
      remove(newest)
      return newest
    },

    giveBack(connection: Connection): void {
      const siblings = idle.get(connection.origin) ?? []
      siblings.push(connection)
      idle.delete(connection.origin)
      idle.set(connection.origin, siblings)
      idleCount += 1
      const [longestUnused] = idle.values()
      const oldest = longestUnused?.[0]
      if (idleCount > maxIdleConnections && oldest && remove(oldest)) discard(oldest)
    },

    async close(): Promise<void> {
      isClosed = true
      // Whoever holds a connection discards it when it ends.
      await Promise.all([...all].map(({ client }) => client.destroy()))
    },
  }
}
