import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const maxWaitMs = 5 * 60_000
const retryMs = 100

/** Runs the work on a connection that holds the migration lock, so no other deployment to this database runs. */
export async function withMigrationLock<T>(
  databaseUrl: string,
  signal: AbortSignal | undefined,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'belfry-migrate' })
  // Without a listener, the loss of the idle connection would end the process. With one, the next statement fails.
  client.on('error', () => {})
  await client.connect()
  try {
    await acquire(client, signal)
    return await work(client)
  } finally {
    await client.end()
  }
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
