import pg, { type PoolClient } from 'pg'

/** Where statements go: the pool, or one of its connections with an open transaction. */
export type Db = Pick<PoolClient, 'query'>

/** One connection with an open transaction. */
export type Transaction = Db

/**
 * Runs statements in one transaction, which is rolled back when `run` rejects. Within a transaction that is open already
 * they become a part of it.
 * @param settings - Statements that travel with the begin of a new transaction. Default: none.
 */
export async function inTransaction<T>(
  db: Db,
  run: (tx: Transaction) => Promise<T>,
  settings: string | null = null,
): Promise<T> {
  if (!(db instanceof pg.Pool)) return run(db)
  const client = await db.connect()
  let failed: Error | undefined
  try {
    await client.query(settings === null ? 'BEGIN' : `BEGIN; ${settings}`)
    const result = await run(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    // Rolled back before it rejects, so that nothing the caller does next finds a row that is still locked.
    await client.query('ROLLBACK').catch((cause: Error) => {
      failed = cause
    })
    throw error
  } finally {
    client.release(failed) // a connection in an unknown state is closed, which rolls back too
  }
}

/** Whether statements go to a transaction that is open, rather than to the pool. */
export function isInTransaction(db: Db): boolean {
  return !(db instanceof pg.Pool)
}

/** The database's clock, also in the middle of a transaction. */
export async function readClock(tx: Transaction): Promise<Date> {
  const { rows } = await tx.query<{ now: Date }>('SELECT clock_timestamp() AS now')
  return rows[0]?.now ?? Promise.reject(new Error('The database did not tell the time.'))
}
