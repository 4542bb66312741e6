import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { endLostConnection } from './pool.ts'
import { targetOf } from './primary-client.ts'

export type Listener = {
  onNotification(channel: string, payload: string): void
  /** Called after each connection, including the first one. Earlier notifications were missed. */
  onConnect(): void
  onError(error: unknown): void
}

const maxPauseMs = 5_000
// A silent loss of the connection is detected when a probe gets no response.
const probeMs = 10_000
const silenceMs = 15_000
const closeMs = 1_000

/**
 * Listens to channels of PostgreSQL on a dedicated connection. Reconnects when it is lost, after 0.1 s, doubled up to 5
 * s. Never rejects.
 */
export function listen(databaseUrl: string, channels: readonly string[], listener: Listener) {
  const stop = new AbortController()
  const { Client, connectionString } = targetOf(databaseUrl)

  async function run(): Promise<void> {
    for (let pauseMs = 100; !stop.signal.aborted; ) {
      const client = new Client({ connectionString, connectionTimeoutMillis: 5_000, keepAlive: true })
      client.on('notification', ({ channel, payload = '' }) => listener.onNotification(channel, payload))
      client.on('error', () => {}) // the next probe fails, or 'end' follows
      const ended = new AbortController()
      client.once('end', () => ended.abort())
      try {
        await client.connect()
        endLostConnection(client, silenceMs)
        await client.query(channels.map(channel => `LISTEN ${pg.escapeIdentifier(channel)}`).join('; '))
        listener.onConnect()
        pauseMs = 100
        await probe(client, AbortSignal.any([stop.signal, ended.signal]))
      } catch (error) {
        if (!stop.signal.aborted) listener.onError(error)
      }
      await Promise.race([client.end().catch(() => {}), sleep(closeMs)]) // may hang, or have ended
      await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => {}) // aborted
      pauseMs = Math.min(pauseMs * 2, maxPauseMs)
    }
  }

  const running = run()
  return {
    async close() {
      stop.abort()
      await running
    },
  }
}

/** Resolves when the connection has ended or the listener is to close. */
async function probe(client: pg.Client, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    await sleep(probeMs, undefined, { signal: end }).catch(() => {}) // aborted
    if (!end.aborted) await client.query('SELECT 1')
  }
}
