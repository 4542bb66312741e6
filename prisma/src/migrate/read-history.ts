import { hash } from 'node:crypto'
import type pg from 'pg'
import { compareDefinitions, filesOf, readRows } from './definitions.ts'
import { readMigrationFiles } from './migration-folder.ts'

/** How the migrations of a database differ from the migrations of this version. */
export type MigrationHistory = Awaited<ReturnType<typeof readMigrationHistory>>

/** Compares the migrations that a database records with the files of a folder. Read-only. */
export async function readMigrationHistory(db: Pick<pg.Pool, 'query'>, folder: string) {
  const files = await readMigrationFiles(folder)
  const applied = await readApplied(db)
  const names = new Set(files.map(({ name }) => name))
  const { pending, replaced } = await compareDefinitions(db, folder)
  return {
    /** Migrations and files of prisma/sql that are not applied. */
    pending: [...files.filter(({ name }) => !applied.has(name)).map(({ name }) => name), ...filesOf(pending)],
    /** Applied by a later version. */
    unknown: [...applied.keys()].filter(name => !names.has(name)),
    /** Applied with another text. */
    edited: files
      .filter(({ name, script }) => applied.has(name) && applied.get(name) !== hash('sha256', script))
      .map(({ name }) => name),
    /** Files of prisma/sql of which a later version has replaced a function or a trigger. */
    replaced,
  }
}

/** Returns the names of the applied migrations, with the checksums of their texts. */
export async function readApplied(db: Pick<pg.Pool, 'query'>): Promise<Map<string, string>> {
  const rows = await readRows<{ name: string; checksum: string }>(
    db,
    `SELECT migration_name AS name, checksum FROM _prisma_migrations
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY started_at`,
  )
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}
