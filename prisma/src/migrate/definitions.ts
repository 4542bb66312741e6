import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { isBlocked } from './transact-with-locks.ts'

/** A function of prisma/sql, or one of its triggers: a trigger locks its table, so it is applied only when it changes. */
export type Definition = { file: string; script: string; hash: string }

/** Reads prisma/sql. A file follows the files whose functions it calls, because PostgreSQL checks a body when it is created. */
export async function readDefinitions(folder: string): Promise<Definition[]> {
  const names = (await readdir(join(folder, 'sql'))).filter(name => name.endsWith('.sql')).sort()
  const texts = await Promise.all(names.map(name => readFile(join(folder, 'sql', name), 'utf8')))
  const files = new Map(names.map((name, i) => [name, texts[i] ?? '']))
  const ordered = new Set<string>()
  const visited = new Set<string>()
  const place = (file: string, text: string) => {
    if (visited.has(file)) return
    visited.add(file)
    for (const [name, other] of files)
      if (new RegExp(`\\b${name.replace('.sql', '')}\\(`).test(text)) place(name, other)
    ordered.add(file)
  }
  for (const [file, text] of files) place(file, text)
  return [...ordered].flatMap(file => splitDefinitions(file, files.get(file) ?? ''))
}

function splitDefinitions(file: string, text: string): Definition[] {
  return text
    .split(/^(?=CREATE OR REPLACE TRIGGER )/m)
    .map(script => ({ file, script, hash: createHash('sha256').update(script).digest('hex') }))
}

/**
 * Returns the definitions that the database has never had. It does not bring back replaced ones, because processes of the later
 * version may run.
 */
export async function readPendingDefinitions(db: Pick<pg.Client, 'query'>, folder: string): Promise<Definition[]> {
  const rows = await readRows<{ hash: string }>(db, 'SELECT hash FROM sql_definitions')
  const seen = new Set(rows.map(({ hash }) => hash))
  return (await readDefinitions(folder)).filter(({ hash }) => !seen.has(hash))
}

/** Returns the files of which a later version has replaced a definition. */
export async function readReplacedFiles(db: Pick<pg.Client, 'query'>, folder: string): Promise<string[]> {
  const hashes = (await readDefinitions(folder)).map(({ hash }) => hash)
  const rows = await readRows<{ file: string }>(
    db,
    `SELECT file FROM sql_definitions GROUP BY file
     HAVING max(applied_at) FILTER (WHERE hash <> ALL ($1)) > max(applied_at) FILTER (WHERE hash = ANY ($1)) ORDER BY file`,
    [hashes],
  )
  return rows.map(({ file }) => file)
}

/** Returns the rows of a statement; none before a migration has created its table. */
export async function readRows<Row extends object>(
  db: Pick<pg.Client, 'query'>,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  try {
    return (await db.query<Row>(text, values)).rows
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '42P01') return []
    throw error
  }
}

/** Applies and records definitions in an open transaction. */
export async function applyDefinitions(client: pg.Client, definitions: readonly Definition[]): Promise<void> {
  for (const { file, script, hash } of definitions) {
    try {
      await client.query(script)
    } catch (error) {
      if (error instanceof pg.DatabaseError && !isBlocked(error)) error.message = `prisma/sql/${file}: ${error.message}`
      throw error
    }
    await client.query('INSERT INTO sql_definitions (file, hash) VALUES ($1, $2)', [file, hash])
  }
}

/** Returns the names of the files of definitions, each once. */
export function filesOf(definitions: readonly Definition[]): string[] {
  return [...new Set(definitions.map(({ file }) => file))]
}
