import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Connections, withConnections } from './transact-with-locks.ts'

const maxWaitMs = 5 * 60_000
const retryMs = 100

/** Runs the work under the migration lock, so only one deployment to this database runs at a time. */
export async function withMigrationLock<T>(
  databaseUrl: string,
  signal: AbortSignal | undefined,
  work: (connections: Connections) => Promise<T>,
): Promise<T> {
  return withConnections(databaseUrl, 'belfry-migrate', async connections => {
    await acquire(connections.watcher, signal)
    return work(connections)
  })
}

// Polling, because a statement that waits for the lock
// holds a snapshot, and CREATE INDEX CONCURRENTLY in the other deployment would wait for that.
async function acquire(client: pg.Client, signal: AbortSignal | undefined): Promise<void> {
  const giveUpAt = performance.now() + maxWaitMs
  for (;;) {
    const { rows } = await client.query<{ acquired: boolean }>(
      `SELECT pg_try_advisory_lock(hashtext('belfry migrations')) AS acquired`,
    )
    if (rows[0]?.acquired) return
    if (performance.now() > giveUpAt) throw new Error('Another deployment has held the migration lock for 5 minutes.')
    await sleep(retryMs, undefined, signal && { signal })
  }
}
