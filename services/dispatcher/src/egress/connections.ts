import { Client, errors } from 'undici'
import type { Connect, ConnectTimings } from './connect.ts'
import { watchResponses } from './watch-responses.ts'

/** A connection to an origin, for one request at a time. */
export type Connection = {
  readonly origin: string
  readonly client: Client
  /** Aborts the connection attempt in progress, or null. */
  opening: AbortController | null
  /** The connecting for the current request; null when the request uses a kept-alive connection. */
  opened: ConnectTimings | null
  /** The first error of the current socket, or null. */
  firstError: Error | null
  /** The number of responses on the current socket. */
  responses: number
  /** When it is too old for another request, by `performance.now()`. */
  oldAt: number
  /** Until when it may be reused, by `performance.now()`. */
  reusableUntil: number
  /** What it has received since the request. Knows a status even if undici cannot read the headers. */
  readonly received: ReturnType<typeof watchResponses>
}

/**
 * Keeps idle connections for reuse: each for a limited time, and a limited number in all. A request holds a connection for
 * itself. When the request does not end cleanly, its connection is discarded.
 */
export type Connections = ReturnType<typeof createConnections>

const maxHeaderBytes = 64 * 1024
// The default of undici. It avoids a race with servers that close idle connections later than this.
const idleMs = 4_000
// A server may announce another time (Keep-Alive: timeout). undici then waits a second less than that, up to this.
const maxIdleMs = 30_000
const thresholdMs = 1_000
// A name may point to another server while the old one still answers, so a connection is reused for at most this long.
const maxAgeMs = 30_000
const distrustMs = 10_000
const maxIdleConnections = 512

export function createConnections(connect: Connect) {
  const all = new Set<Connection>()
  const idle = new Map<string, Connection[]>() // by origin; the origin and the connection that were used longest ago are first
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
    /** Whether `close` was called: then connections cannot be taken any more. */
    get isClosed(): boolean {
      return isClosed
    },
    discard,

    /**
     * Closes the idle connections of an origin that closes them itself on reuse, and does not keep new ones for ten
     * seconds.
     */
    distrust(origin: string): void {
      for (const connection of [...(idle.get(origin) ?? [])]) if (remove(connection)) discard(connection)
      if (distrusted.has(origin)) return
      distrusted.add(origin)
      setTimeout(() => distrusted.delete(origin), distrustMs).unref()
    },

    /** @throws ClientDestroyedError when they are closed. */
    take(origin: string): Connection {
      if (isClosed) throw new errors.ClientDestroyedError()
      const newest = idle.get(origin)?.at(-1)
      if (newest === undefined) return open(origin)
      remove(newest)
      // undici's timers are late after the process was blocked, and the target may be closing the connection.
      if (newest.reusableUntil > performance.now()) return newest
      discard(newest)
      return open(origin)
    },

    /** @param keepAlive - The header Keep-Alive of the response. */
    release(connection: Connection, keepAlive: string | undefined) {
      if (distrusted.has(connection.origin)) return discard(connection)
      connection.responses += 1
      connection.reusableUntil = Math.min(performance.now() + idleTime(keepAlive), connection.oldAt)
      const siblings = idle.get(connection.origin) ?? []
      siblings.push(connection)
      idle.delete(connection.origin)
      idle.set(connection.origin, siblings)
      idleCount += 1
      const [leastRecent] = idle.values()
      const oldest = leastRecent?.[0]
      if (idleCount > maxIdleConnections && oldest && remove(oldest)) discard(oldest)
    },

    /** Closes all connections, including those in use, and refuses new ones. */
    async close(): Promise<void> {
      isClosed = true
      // An exchange in flight discards its connection when it ends.
      await Promise.all([...all].map(({ client }) => client.destroy()))
    },
  }
}

// As undici calculates it.
function idleTime(keepAlive = ''): number {
  const [, seconds] = /timeout=(\d+)/.exec(keepAlive) ?? []
  return seconds === undefined ? idleMs : Math.min(Number(seconds) * 1_000 - thresholdMs, maxIdleMs)
}

function openConnection(origin: string, connect: Connect): Connection {
  const received = watchResponses()
  const client = new Client(origin, {
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: maxIdleMs,
    keepAliveTimeoutThreshold: thresholdMs,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: 0, // the exchange enforces its deadline itself
    bodyTimeout: 0,
    connect(target, callback) {
      const opening = new AbortController()
      connection.opening = opening
      connection.opened = { dnsMs: null, connectMs: null, tlsMs: null }
      const done: typeof callback = (...result) => {
        connection.opening = null
        connection.responses = 0
        // Connections that were opened together are not replaced together.
        connection.oldAt = performance.now() + maxAgeMs * (1 - Math.random() / 2)
        callback(...result)
      }
      connect(target, opening.signal, connection.opened).then(
        socket => {
          connection.firstError = null
          socket.once('error', error => {
            connection.firstError = error
          })
          done(null, received.watch(socket))
        },
        error => done(error, null),
      )
    },
  })
  const connection: Connection = {
    origin,
    client,
    opening: null,
    opened: null,
    firstError: null,
    responses: 0,
    oldAt: 0,
    reusableUntil: 0,
    received,
  }
  return connection
}
