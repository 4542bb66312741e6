import { hash } from 'node:crypto'
import pg from 'pg'
import { applyDefinitions, type Definition } from './definitions.ts'
import { grantRights, usesRoles } from './set-up-roles.ts'
import { type Connections, isBlocked, type LockOptions, transactWithLocks } from './transact-with-locks.ts'

export type Migration = { name: string; script: string }

const maxBuilds = 5

/**
 * Applies a migration and records it in one transaction. The transaction also applies the definitions and grants the
 * services their rights on new tables.
 * @param connections - The watcher cancels the migration and finds the sessions that block it.
 */
export async function applyMigration(
  connections: Connections,
  migration: Migration,
  definitions: readonly Definition[],
  options: LockOptions,
): Promise<void> {
  const { client, pid, watcher } = connections
  const cancel = () => void watcher.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => {})
  options.signal?.addEventListener('abort', cancel)
  const title = `migration ${migration.name}`
  try {
    await (isConcurrent(migration.script)
      ? applyConcurrently(client, migration)
      : transactWithLocks(connections, title, () => applyAndRecord(client, migration, definitions), options))
  } catch (error) {
    if (!options.signal?.aborted) throw error
    throw new Error(`Migration ${migration.name} was cancelled. Nothing of it was applied.`, { cause: error })
  } finally {
    options.signal?.removeEventListener('abort', cancel)
  }
}

async function applyAndRecord(client: pg.Client, migration: Migration, definitions: readonly Definition[]) {
  try {
    await run(client, migration)
    await applyDefinitions(client, definitions)
    // Processes of the previous version run on, and their triggers may write to new tables at once.
    if (createsTable(migration.script) && (await usesRoles(client))) await grantRights(client)
    await record(client, migration)
  } catch (error) {
    throw isBlocked(error) ? error : describe(migration, error)
  }
}

async function run(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query(migration.script)
  } catch (error) {
    if (error instanceof pg.DatabaseError && !isBlocked(error))
      error.message += describePosition(migration.script, error.position)
    throw error
  }
}

/** Returns the line of an error in a script, in parentheses. */
export function describePosition(script: string, position: string | undefined): string {
  if (position === undefined) return ''
  return ` (line ${script.slice(0, Number(position)).split('\n').length})`
}

async function record(client: pg.Client, { name, script }: Migration): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES (gen_random_uuid(), $1, $2, clock_timestamp(), 1)`,
    [hash('sha256', script), name],
  )
}

function describe({ name }: Migration, error: unknown): Error {
  return new Error(`Migration ${name} failed: ${error instanceof Error ? error.message : error}`, { cause: error })
}

function createsTable(script: string): boolean {
  return statementsOf(script).some(text => /^CREATE (OR REPLACE )?(UNLOGGED )?(TABLE|VIEW)\b/i.test(text))
}

/** True for a migration that cannot run in a transaction, and that is alone in its file for this reason. */
export function isConcurrent(script: string): boolean {
  const [first = '', ...others] = statementsOf(script)
  return others.length === 0 && /\bCONCURRENTLY\b/i.test(first)
}

// It waits for its locks without blocking others, so it may wait for long. When it was interrupted earlier, either the index
// is complete, or it is invalid and built again.
async function applyConcurrently(client: pg.Client, migration: Migration): Promise<void> {
  const [statement = ''] = statementsOf(migration.script)
  const [, index] = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?"?(\w+)"? ON /i.exec(statement) ?? []
  for (let attempt = 1; ; attempt++) {
    try {
      const { rows } = await client.query<{ indisvalid: boolean }>(
        'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)',
        [index && `"${index}"`],
      )
      if (rows[0]?.indisvalid === false) await client.query(`DROP INDEX CONCURRENTLY "${index}"`)
      if (rows[0]?.indisvalid !== true) await run(client, migration)
      await record(client, migration)
      return
    } catch (error) {
      // PostgreSQL ends one of the two when the build and a transaction wait for each other. The next attempt removes the
      // invalid index.
      if (!isBlocked(error) || attempt === maxBuilds) throw describe(migration, error)
    }
  }
}

/** Splits a migration into its statements, without comments. Replaces the bodies of functions and DO blocks by `''`. */
export function statementsOf(sql: string): string[] {
  const bare = sql.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''").replace(/--.*$/gm, '')
  return bare
    .split(';')
    .map(text => text.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
}
