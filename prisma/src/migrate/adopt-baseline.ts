import type pg from 'pg'
import { type Migration, record } from './apply-migration.ts'

const lastBefore = '20261126190000_run_timings'

/**
 * Records the baseline as applied in a database of the last state before it, which has the same tables. Throws for an earlier
 * state. Goes with the first release, because only checkouts of the main branch made such databases.
 */
export async function adoptBaseline(client: pg.Client, baseline: Migration | undefined): Promise<void> {
  if (!baseline?.name.endsWith('_baseline')) return
  const earlier = 'migration_name < $1 AND finished_at IS NOT NULL AND rolled_back_at IS NULL'
  const { rows } = await client.query<{ last: string | null }>(
    `SELECT max(migration_name) AS last FROM _prisma_migrations WHERE ${earlier}`,
    [baseline.name],
  )
  const last = rows[0]?.last ?? null
  if (last === null) return
  if (last !== lastBefore) throw new Error(describeEarlier(last))
  await client.query('BEGIN')
  await client.query('DELETE FROM _prisma_migrations WHERE migration_name < $1', [baseline.name])
  await record(client, baseline)
  await client.query('COMMIT')
}

function describeEarlier(last: string): string {
  return [
    `This database was last migrated to ${last}, by a checkout from before the migrations became one baseline.`,
    `Check out the last commit with prisma/migrations/${lastBefore}, deploy it, and deploy again. Or use a new database.`,
  ].join('\n')
}
