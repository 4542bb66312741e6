import type { Db } from '../postgres/in-transaction.ts'

/** When a dispatcher took tasks, in epoch milliseconds by the clock of PostgreSQL. */
export type Lifetime = { from: number; to: number }

/**
 * Reads when the other dispatchers took tasks. Dispatchers that shut down, or that a scheduler has ended, are not
 * included.
 */
export async function readLifetimes(db: Db, exceptId: string): Promise<Lifetime[]> {
  const { rows } = await db.query<Lifetime>({
    name: 'read_lifetimes',
    text: `
      SELECT extract(epoch FROM started_at)::float8 * 1000 AS "from", extract(epoch FROM seen_at)::float8 * 1000 AS "to"
      FROM dispatchers WHERE id <> $1 AND NOT quarantine AND seen_at > '-infinity'`,
    values: [exceptId],
  })
  return rows
}
