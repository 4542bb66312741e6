import type { Db } from '@belfry/db/postgres/in-transaction'
import { withClient } from '@belfry/db/postgres/with-client'
import { findMasterKeyProblem } from '@belfry/db/secrets/data-keys'
import { parseMasterKeys } from '@belfry/vault'
import { countRows } from '../backup/make-backup.ts'
import type { Manifest } from '../backup/manifest.ts'
import { readMigrations } from '../doctor/checks/database.ts'

/**
 * Checks a restored database: its rows against the manifest, its invariants, and that each value can be read.
 * @param keys - ENCRYPTION_KEYS of the installation; undefined when they are not at hand.
 */
export async function checkRestored(url: string, manifest: Manifest, keys: string | undefined) {
  return withClient({ connectionString: url, application_name: 'belfry-restore' }, async db => {
    const rows = await countRows(db)
    const counts = compareRows(manifest, rows)
    const problems = [...counts.problems, ...(await brokenInvariants(db)), ...(await keyProblems(db, keys))]
    await readEverything(db)
    const notes = [...counts.notes, ...(await migrationNotes(db))]
    if (keys === undefined) notes.push('ENCRYPTION_KEYS is not set, so it was not checked against this backup.')
    return { problems, notes, rows }
  })
}

function compareRows({ kind, rows: expected }: Manifest, found: Record<string, number>) {
  const problems: string[] = []
  const notes: string[] = []
  for (const [table, count] of Object.entries(expected)) {
    const restored = found[table] ?? 0
    // The hold after a restore makes overdue occurrences.
    if (kind === 'dump' && restored < count) problems.push(`${table} has ${restored} rows instead of ${count}.`)
    // A backup of files is of the moment at which it ended, some seconds after the rows were counted.
    if (kind === 'files' && restored < count) notes.push(`${table} has ${restored} rows; ${count} were counted before.`)
    if (kind === 'files' && restored === 0 && count > 0) problems.push(`${table} is empty; it had ${count} rows.`)
  }
  return { problems, notes }
}

// The rows that break each of them.
const invariants: Record<string, string> = {
  'waiting tasks without a request': `tasks t
    WHERE state IN ('pending', 'retrying', 'processing')
      AND NOT EXISTS (SELECT FROM task_requests r WHERE r.task_id = t.id)`,
  'tasks of unknown workspaces': `tasks t
    WHERE NOT EXISTS (SELECT FROM workspaces w WHERE w.id = t.workspace_id)`,
  'workspaces of unknown organizations': `workspaces w
    WHERE NOT EXISTS (SELECT FROM organizations o WHERE o.id = w.organization_id)`,
  'secrets without a data key': `secrets s
    WHERE NOT EXISTS (SELECT FROM data_keys k WHERE k.workspace_id = s.workspace_id)`,
}

async function brokenInvariants(db: Db): Promise<string[]> {
  const problems: string[] = []
  for (const [name, broken] of Object.entries(invariants)) {
    const { rows } = await db.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${broken}`)
    if (rows[0]?.count !== 0) problems.push(`There are ${rows[0]?.count} ${name}.`)
  }
  return problems
}

async function keyProblems(db: Db, keys: string | undefined): Promise<string[]> {
  if (keys === undefined) return []
  const problem = await findMasterKeyProblem(db, parseMasterKeys(keys))
  return problem === null ? [] : [`ENCRYPTION_KEYS does not fit this backup: ${problem}`]
}

// Reads each value of each row, to verify the checksums of the pages.
async function readEverything(db: Db): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  for (const { name } of rows) await db.query(`SELECT sum(length(one::text)) FROM ${name} one`)
}

async function migrationNotes(db: Db): Promise<string[]> {
  const { pending, unknown } = await readMigrations(db)
  return [
    ...(pending.length > 0 ? [`${pending.length} migrations of this version will be applied.`] : []),
    ...(unknown.length > 0 ? [`A later version of Belfry made this backup: restore it with that version.`] : []),
  ]
}
