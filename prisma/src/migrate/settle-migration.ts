import pg from 'pg'
import { checkMigrations } from './check-migrations.ts'

// Earlier versions recorded a migration before it ran. When the server refused a statement, all of it was rolled back.
const refused = '%Error querying the database: ERROR: %'
const unsettled = 'finished_at IS NULL AND rolled_back_at IS NULL'

/** Lets migrations that were rolled back run again. Throws when the outcome of a migration is unknown. */
export async function forgetRolledBack(client: pg.Client): Promise<void> {
  await client.query(`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE ${unsettled} AND logs LIKE $1`, [
    refused,
  ])
  const { rows } = await client.query<{ migration_name: string }>(
    `SELECT migration_name FROM _prisma_migrations WHERE ${unsettled} LIMIT 1`,
  )
  const name = rows[0]?.migration_name
  if (name === undefined) return
  throw new Error(
    [
      `Migration ${name} was interrupted in an earlier version, and it may or may not have been committed.`,
      `Run "settle ${name}", which shows what the database lacks, and deploy again.`,
    ].join('\n'),
  )
}

/**
 * Settles a migration that an earlier version left unfinished. Without an outcome it only shows how the database differs
 * from the schema.
 * @param outcome - `applied` when its changes are in the database, `rolled-back` when they are not.
 */
export async function settleMigration(
  databaseUrl: string,
  name: string,
  outcome: 'applied' | 'rolled-back' | null,
  print: (line: string) => void,
): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const found = await client.query(`SELECT FROM _prisma_migrations WHERE migration_name = $1 AND ${unsettled}`, [
      name,
    ])
    if (found.rowCount === 0) throw new Error(`Migration ${name} is not unfinished.`)
    if (outcome === null) {
      const { drift } = await checkMigrations(databaseUrl)
      print(
        drift === null ? 'the database has everything of schema.prisma' : `the database lacks:\n\n${drift.trim()}\n`,
      )
      print(`if the changes of ${name} are not among this, run "settle ${name} --applied"`)
      print(`if they are, run "settle ${name} --rolled-back"`)
      return 1
    }
    const column = outcome === 'applied' ? 'finished_at' : 'rolled_back_at'
    await client.query(`UPDATE _prisma_migrations SET ${column} = now() WHERE migration_name = $1 AND ${unsettled}`, [
      name,
    ])
    print(`${name} is settled as ${outcome}`)
    return 0
  } finally {
    await client.end()
  }
}
