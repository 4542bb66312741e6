import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const patienceMs = 5 * 60_000
const retryMs = 100

/** Runs the work while no other deployment to the same database runs, on a connection that holds a lock for it. */
export async function withMigrationLock<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(databaseUrl)
  // Without a listener a connection lost while idle would end the process; with one, the next statement fails.
  client.on('error', () => {})
  await client.connect()
  try {
    await acquire(client)
    return await work(client)
  } finally {
    await client.end()
  }
}

// The engine has a lock of its own but gives up after ten seconds. Nor would it do to let the server wait: a statement
// that waits holds a snapshot, for which CREATE INDEX CONCURRENTLY in the other deployment would wait in turn.
async function acquire(client: pg.Client): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const { rows } = await client.query<{ acquired: boolean }>(
      `SELECT pg_try_advisory_lock(hashtext('belfry migrations')) AS acquired`,
    )
    if (rows[0]?.acquired) return
    if (performance.now() > giveUpAt) throw new Error('Another deployment has held the migration lock for 5 minutes.')
    await sleep(retryMs)
  }
}
