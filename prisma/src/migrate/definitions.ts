import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '@belfry/domain/version'
import pg from 'pg'
import { isBlocked } from './transact-with-locks.ts'

/**
 * A function of prisma/sql, or one of its triggers: a trigger locks its table, so it is applied only when it changes.
 * `hashes`: of all definitions of the file.
 */
export type Definition = { file: string; script: string; hash: string; hashes: string[] }

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
  const scripts = text.split(/^(?=CREATE OR REPLACE TRIGGER )/m)
  const hashes = scripts.map(script => hash('sha256', script))
  return scripts.map((script, i) => ({ file, script, hash: hashes[i] ?? '', hashes }))
}

type InForce = { file: string; hash: string; version?: string }

/**
 * Compares prisma/sql with the definitions that are in force. `pending` ones are to be applied. Of the files
 * `replaced`, a later version has applied others, whose processes may run.
 */
export async function compareDefinitions(db: Pick<pg.Client, 'query'>, folder: string) {
  const rows = await readRows<InForce>(db, 'SELECT * FROM sql_definitions')
  const known = new Set(rows.map(row => `${row.file} ${row.hash}`))
  const later = new Set(rows.filter(row => isLater(row.version ?? '', version)).map(({ file }) => file))
  const others = (await readDefinitions(folder)).filter(({ file, hash }) => !known.has(`${file} ${hash}`))
  return {
    pending: others.filter(({ file }) => !later.has(file)),
    replaced: filesOf(others.filter(({ file }) => later.has(file))),
  }
}

// A development version counts as its release.
function isLater(one: string, other: string): boolean {
  const [release = '', otherRelease = ''] = [one, other].map(text => text.replace(/-.*/, ''))
  return release.localeCompare(otherRelease, 'en', { numeric: true }) > 0
}

/** Returns the rows of a statement; empty before a migration has created its table. */
export async function readRows<Row extends object>(db: Pick<pg.Client, 'query'>, text: string, values: unknown[] = []) {
  try {
    return (await db.query<Row>(text, values)).rows
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '42P01') return []
    throw error
  }
}

export async function applyDefinitions(client: pg.Client, definitions: readonly Definition[]): Promise<void> {
  for (const { file, script, hash, hashes } of definitions) {
    try {
      await client.query(script)
    } catch (error) {
      if (error instanceof pg.DatabaseError && !isBlocked(error)) error.message = `prisma/sql/${file}: ${error.message}`
      throw error
    }
    await client.query('DELETE FROM sql_definitions WHERE file = $1 AND hash <> ALL ($2)', [file, hashes])
    const text = 'INSERT INTO sql_definitions (file, hash, version) VALUES ($1, $2, $3)'
    await client.query(text, [file, hash, version])
  }
}

export function filesOf(definitions: readonly Definition[]): string[] {
  return [...new Set(definitions.map(({ file }) => file))]
}
