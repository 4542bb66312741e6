import type pg from 'pg'

// The engine's log when the server rejected a statement. A file is one transaction, so all of it was rolled back.
const refused = '%Error querying the database: ERROR: %'
const unsettled = 'finished_at IS NULL AND rolled_back_at IS NULL'

/** Lets migrations that were rolled back run again. Throws when the outcome of a migration is unknown. */
export async function settleFailedMigrations(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(`SELECT 1 WHERE to_regclass('_prisma_migrations') IS NOT NULL`)
  if (rowCount === 0) return
  await client.query(`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE ${unsettled} AND logs LIKE $1`, [
    refused,
  ])
  const { rows } = await client.query<{ migration_name: string }>(
    `SELECT migration_name FROM _prisma_migrations WHERE ${unsettled} LIMIT 1`,
  )
  if (rows[0]) throw new Error(interrupted(rows[0].migration_name))
}

function interrupted(name: string): string {
  const settle = (column: string) =>
    `UPDATE _prisma_migrations SET ${column} = now() WHERE migration_name = '${name}' AND ${unsettled};`
  return [
    `Migration ${name} was interrupted, and it may or may not have been committed. If its changes are there, run`,
    `  ${settle('finished_at')}`,
    'and if they are not, run',
    `  ${settle('rolled_back_at')}`,
    'and deploy again.',
  ].join('\n')
}
