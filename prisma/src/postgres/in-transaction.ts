import pg, { type PoolClient } from 'pg'
import type { Prisma } from './create-prisma.ts'

/** A pool, or one of its connections with an open transaction. */
export type Db = Pick<PoolClient, 'query'>

/** A connection with an open transaction. */
export type Transaction = Db

/** A transaction of `pg` or of Prisma. */
export type AnyTransaction = Transaction | Pick<Prisma, '$queryRawUnsafe'>

/** Returns a transaction as functions for `pg` expect it. */
export function dbOf(tx: AnyTransaction): Transaction {
  if (!('$queryRawUnsafe' in tx)) return tx
  const query = async (query: string | { text: string; values?: unknown[] }, given: unknown[] = []) => {
    const { text, values = given } = typeof query === 'string' ? { text: query } : query
    return { rows: await tx.$queryRawUnsafe<unknown[]>(text, ...values) }
  }
  return { query: query as Transaction['query'] }
}

/**
 * Runs statements in one transaction, and rolls it back when `run` rejects. Statements within an open transaction become
 * part of it.
 * @param settings - Statements to send together with BEGIN. An open transaction ignores them. Optional.
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
    // The rollback completes first, so the caller's next statement does not wait for locks of this transaction.
    await client.query('ROLLBACK').catch((cause: Error) => {
      failed = cause
    })
    throw error
  } finally {
    client.release(failed) // closes the connection when the rollback failed
  }
}

export function isInTransaction(db: Db): boolean {
  return !(db instanceof pg.Pool)
}

/** Reads the database's clock. In a transaction it differs from now(): that is the time of the transaction's start. */
export async function readClock(tx: Transaction): Promise<Date> {
  const { rows } = await tx.query<{ now: Date }>('SELECT clock_timestamp() AS now')
  return rows[0]?.now ?? Promise.reject(new Error('The database returned no time.'))
}

/** Returns a context that works in another transaction. A copy of its 40 members would take 14 µs on Node 20. */
export function withDb<W extends { db: Db }>(work: W, db: Db): W {
  return Object.assign(Object.create(work), { db })
}
