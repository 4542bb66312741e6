import { Client, errors } from 'undici'
import type { Connect } from './connect.ts'
import { createContinueSkipper } from './skip-continue.ts'

/** A connection to an origin, for one request at a time. */
export type Connection = {
  readonly origin: string
  readonly client: Client
  /** Gives up the connecting that is in progress. */
  opening: AbortController | null
  /** How many responses its present socket has brought. */
  responses: number
  /** To be called before each request. */
  expectResponse(): void
  /** Whether the target has sent no byte since the request. */
  isSilent(): boolean
}

/**
 * Keeps connections warm after use, each for a bounded time and all together in bounded number. One request holds one
 * connection, and a request that does not end cleanly takes its connection with it.
 */
export type Connections = {
  /** No connection can be taken any more. */
  readonly isClosed: boolean
  /** @throws ClientDestroyedError when they are closed. */
  take(origin: string): Connection
  giveBack(connection: Connection): void
  discard(connection: Connection): void
  /** Closes the idle connections of an origin and keeps none for ten seconds: it closes them as they are used again. */
  distrust(origin: string): void
  /** Closes all connections, also those in use, and lets none be opened again. */
  close(): Promise<void>
}

const maxHeaderBytes = 16 * 1024
// As long as undici keeps one. A server that closes idle connections later than this is not met at the moment it does.
const idleMs = 4_000
// A server may announce (Keep-Alive: timeout) that it waits longer. A second less than that is believed, up to this.
const maxIdleMs = 30_000
const distrustMs = 10_000
const maxIdleConnections = 512

export function createConnections(connect: Connect): Connections {
  const all = new Set<Connection>()
  const idle = new Map<string, Connection[]>() // by origin, the one used longest ago first
  const distrusted = new Set<string>()
  let idleCount = 0
  let isClosed = false

  function open(origin: string): Connection {
    const connection = openConnection(origin, connect)
    all.add(connection)
    connection.client.on('disconnect', () => {
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
    connection.opening?.abort(new errors.ClientDestroyedError())
  }

  return {
    get isClosed() {
      return isClosed
    },
    discard,

    distrust(origin) {
      for (const connection of [...(idle.get(origin) ?? [])]) if (remove(connection)) discard(connection)
      if (distrusted.has(origin)) return
      distrusted.add(origin)
      setTimeout(() => distrusted.delete(origin), distrustMs).unref()
    },

    take(origin) {
      if (isClosed) throw new errors.ClientDestroyedError()
      const newest = idle.get(origin)?.at(-1)
      if (newest === undefined) return open(origin)
      remove(newest)
      return newest
    },

    giveBack(connection) {
      if (distrusted.has(connection.origin)) return discard(connection)
      connection.responses += 1
      const siblings = idle.get(connection.origin) ?? []
      siblings.push(connection)
      idle.delete(connection.origin)
      idle.set(connection.origin, siblings)
      idleCount += 1
      const [longestUnused] = idle.values()
      const oldest = longestUnused?.[0]
      if (idleCount > maxIdleConnections && oldest && remove(oldest)) discard(oldest)
    },

    async close() {
      isClosed = true
      // An exchange in flight discards its connection when it ends.
      await Promise.all([...all].map(({ client }) => client.destroy()))
    },
  }
}

function openConnection(origin: string, connect: Connect): Connection {
  const skipper = createContinueSkipper()
  const client = new Client(origin, {
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: maxIdleMs,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: 0, // the deadline of the exchange rules
    bodyTimeout: 0,
    connect(target, callback) {
      const opening = new AbortController()
      connection.opening = opening
      const done: typeof callback = (...result) => {
        connection.opening = null
        connection.responses = 0
        callback(...result)
      }
      connect(target, opening.signal).then(
        socket => done(null, skipper.watch(socket)),
        error => done(error, null),
      )
    },
  })
  const connection: Connection = {
    origin,
    client,
    opening: null,
    responses: 0,
    expectResponse: skipper.expectResponse,
    isSilent: () => skipper.isSilent,
  }
  return connection
}
