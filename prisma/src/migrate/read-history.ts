import { createHash } from 'node:crypto'
import pg from 'pg'
import { filesOf, readPendingDefinitions } from './definitions.ts'
import { readMigrationFiles } from './migration-folder.ts'

/** How the migrations of a database differ from those of this version. */
export type MigrationHistory = {
  /** Migrations and files of prisma/sql that are not applied. */
  pending: string[]
  /** Applied by a later version. */
  unknown: string[]
  /** Applied with another text. */
  edited: string[]
}

type Row = { name: string; checksum: string }

/** Compares the migrations that a database records with those of a folder. Changes nothing. */
export async function readMigrationHistory(db: Pick<pg.Pool, 'query'>, folder: string): Promise<MigrationHistory> {
  const files = await readMigrationFiles(folder)
  const rows = await readRows(db)
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  const names = new Set(files.map(({ name }) => name))
  return {
    pending: [
      ...files.filter(({ name }) => !applied.has(name)).map(({ name }) => name),
      ...filesOf(await readPendingDefinitions(db, folder)),
    ],
    unknown: [...applied.keys()].filter(name => !names.has(name)),
    edited: files
      .filter(({ name, script }) => applied.has(name) && applied.get(name) !== checksumOf(script))
      .map(({ name }) => name),
  }
}

async function readRows(db: Pick<pg.Pool, 'query'>): Promise<Row[]> {
  try {
    const { rows } = await db.query<Row>(`
      SELECT migration_name AS name, checksum FROM _prisma_migrations
      WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY started_at`)
    return rows
  } catch (error) {
    // 42P01: no migration has ever run in this database.
    if (error instanceof pg.DatabaseError && error.code === '42P01') return []
    throw error
  }
}

function checksumOf(script: string): string {
  return createHash('sha256').update(script).digest('hex')
}
