import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('../../migrations/', import.meta.url)
const contractPhases = new URL('../../contract-phases.json', import.meta.url)
// Before it there was no release whose rows an index could have to be built over.
const firstRelease = '20261121150000'

it.each([
  ['DROP TABLE tasks', /drops/],
  ['ALTER TABLE tasks DROP COLUMN topic', /drops a column/],
  ['ALTER TABLE tasks RENAME COLUMN topic TO subject', /renames/],
  ['ALTER TABLE tasks ALTER COLUMN topic SET NOT NULL', /refuses rows/],
  ['ALTER TABLE tasks ALTER topic TYPE varchar(10)', /type/],
  ['ALTER TABLE users ADD COLUMN a text, ADD COLUMN b int NOT NULL', /does not fill/],
  ['CREATE UNIQUE INDEX i ON tasks (topic)', /locks tasks/],
  ['CREATE INDEX i ON ONLY runs (topic)', /locks runs/],
  ['-- first\nSELECT 1;\n  truncate runs', /removes rows/],
])('finds a problem in %j', (sql, fault) => expect(judgeMigration(sql)).toEqual([expect.stringMatching(fault)]))

it.each([
  'CREATE TABLE a (id int NOT NULL); CREATE INDEX i ON a (id); ALTER TABLE a ALTER COLUMN id TYPE bigint',
  'ALTER TABLE tasks ADD COLUMN a text, ADD COLUMN b int NOT NULL DEFAULT 0',
  'CREATE INDEX CONCURRENTLY i ON tasks (topic)',
  'CREATE INDEX i ON users (name)',
  'DROP INDEX i',
  'ALTER TABLE tasks ALTER COLUMN topic DROP NOT NULL',
  'CREATE FUNCTION f() RETURNS void AS $$ BEGIN DROP TABLE tasks; TRUNCATE runs; END $$ LANGUAGE plpgsql',
])('finds no problem in %j', sql => expect(judgeMigration(sql)).toEqual([]))

const migrations = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
const exempt: Record<string, string> = JSON.parse(readFileSync(contractPhases, 'utf8'))

it.each(migrations.map(({ name }) => name))('is compatible with the previous version: %s', name => {
  const faults = judgeMigration(readFileSync(new URL(`${name}/migration.sql`, folder), 'utf8'))
  const isOld = name < firstRelease
  if (name in exempt) return expect(exempt[name]).not.toBe('')
  expect(faults.filter(fault => !(isOld && fault.includes('locks')))).toEqual([])
})

it('exempts only migrations that exist', () => {
  expect(Object.keys(exempt).filter(name => !migrations.some(entry => entry.name === name))).toEqual([])
})

/** Tables with millions of rows. A statement that locks one of them while it reads all rows stops the services. */
const bigTables = ['tasks', 'task_requests', 'runs']

type Rule = { pattern: RegExp; problem: string }

const rules: Rule[] = [
  { pattern: /^DROP (?!INDEX|FUNCTION|TRIGGER)/i, problem: 'drops something that the previous version may use' },
  { pattern: /^ALTER TABLE .*\bDROP (?!DEFAULT|CONSTRAINT|NOT NULL)/i, problem: 'drops a column' },
  { pattern: /^ALTER .*\bRENAME\b/i, problem: 'renames something that the previous version uses' },
  { pattern: /^ALTER TABLE .*\bSET NOT NULL\b/i, problem: 'refuses rows that the previous version writes' },
  { pattern: /^ALTER TABLE .*\bALTER (COLUMN )?\S+ (SET DATA )?TYPE\b/i, problem: 'changes the type of a column' },
  { pattern: /^TRUNCATE\b/i, problem: 'removes rows' },
]

/**
 * Finds statements of a migration that would break the previous version, or block it for long. Ignores tables that the
 * migration itself creates.
 */
function judgeMigration(sql: string): string[] {
  const statements = statementsOf(sql)
  const created = new Set(statements.flatMap(text => /^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)/i.exec(text)?.[1] ?? []))
  return statements.flatMap(text => {
    const table =
      /^(?:ALTER TABLE (?:ONLY |IF EXISTS )*|CREATE .*?INDEX .*?\bON (?:ONLY )?)"?(\w+)/i.exec(text)?.[1] ?? ''
    if (created.has(table)) return []
    const problems = rules.filter(({ pattern }) => pattern.test(text)).map(({ problem }) => problem)
    if (needsValueOfOldVersion(text)) problems.push('adds a column that the previous version does not fill')
    if (isBlockingIndex(text, table)) problems.push(`locks ${table} against writes while an index is built`)
    return problems.map(problem => `${text.slice(0, 80)}: ${problem}`)
  })
}

function needsValueOfOldVersion(text: string): boolean {
  if (!/^ALTER TABLE /i.test(text)) return false
  const added = text.split(/,\s*(?=ADD COLUMN)/i).filter(part => /ADD COLUMN/i.test(part))
  return added.some(part => /\bNOT NULL\b/i.test(part) && !/\b(DEFAULT|GENERATED)\b/i.test(part))
}

function isBlockingIndex(text: string, table: string): boolean {
  return /^CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)/i.test(text) && bigTables.includes(table)
}

// Ignores function bodies, whose statements run later, for the new version.
function statementsOf(sql: string): string[] {
  const bare = sql.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''").replace(/--.*$/gm, '')
  return bare
    .split(';')
    .map(text => text.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
}
