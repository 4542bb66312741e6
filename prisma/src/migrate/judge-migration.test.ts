import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { statementsOf } from './apply-migration.ts'

const folder = new URL('../../migrations/', import.meta.url)
// The migrations that remove what the previous version no longer uses, each with its reason.
const contractPhases: Record<string, string> = {
  '20261127000300_waits_for': 'rebuilds indexes of tasks, and precedes the first release',
  '20261127000400_bulk_operations': 'No release has the two tables that it merges.',
  '20261127000700_unused_objects': 'Nothing has read them since before the first version.',
}

it.each([
  ['DROP TABLE tasks', /drops/],
  ['ALTER TABLE tasks DROP COLUMN topic', /drops a column/],
  ['ALTER TABLE tasks RENAME COLUMN topic TO subject', /renames/],
  ['ALTER TABLE tasks ALTER COLUMN topic SET NOT NULL', /refuses rows/],
  ['ALTER TABLE tasks ALTER topic TYPE varchar(10)', /type/],
  ['ALTER TABLE users ADD COLUMN a text, ADD COLUMN b int NOT NULL', /does not fill/],
  ['CREATE UNIQUE INDEX i ON tasks (topic)', /locks tasks/],
  ['CREATE INDEX i ON ONLY runs (topic)', /locks runs/],
  ['CREATE INDEX i ON public.tasks (topic)', /locks tasks/],
  ['CREATE INDEX i ON "public"."tasks" (topic)', /locks tasks/],
  ['CREATE INDEX i ON outbox (kind)', /locks outbox/],
  ['CREATE INDEX i ON audit_log (id)', /locks audit_log/],
  ['CREATE INDEX CONCURRENTLY ON tasks (topic)', /no name/],
  ['ALTER TABLE tasks ADD CONSTRAINT c CHECK (attempts >= 0)', /NOT VALID/],
  ['ALTER TABLE tasks ADD CHECK (attempts >= 0)', /NOT VALID/],
  ['ALTER TABLE runs ADD CONSTRAINT c FOREIGN KEY (task_id) REFERENCES tasks (id)', /NOT VALID/],
  ['ALTER TABLE tasks ADD CONSTRAINT c UNIQUE (event_id)', /builds an index/],
  ['ALTER TABLE tasks ADD PRIMARY KEY (event_id)', /builds an index/],
  ['ALTER TABLE tasks ADD COLUMN a uuid DEFAULT gen_random_uuid()', /rewrites/],
  ['ALTER TABLE tasks ADD a uuid DEFAULT gen_random_uuid()', /rewrites/],
  ["ALTER TABLE tasks ADD COLUMN a text GENERATED ALWAYS AS (name || '!') STORED", /rewrites/],
  ['ALTER TABLE tasks ADD COLUMN a bigserial', /rewrites/],
  ['ALTER TABLE tasks ADD COLUMN a text UNIQUE', /builds an index/],
  ['ALTER TABLE tasks ADD COLUMN a uuid REFERENCES users (id)', /reads every row/],
  ['ALTER TABLE tasks SET UNLOGGED', /rewrites/],
  ["UPDATE tasks SET topic = ''", /every row/],
  ['DELETE FROM runs', /every row/],
  ["WITH old AS (SELECT 1) UPDATE tasks SET topic = ''", /not known/],
  ['DO $$ BEGIN DROP TABLE tasks; END $$', /at once/],
  ['REINDEX TABLE tasks', /not known/],
  ['CLUSTER tasks', /not known/],
  ['VACUUM FULL tasks', /not known/],
  ['LOCK TABLE tasks', /not known/],
  ['-- first\nSELECT 1;\n  truncate runs', /removes rows/],
])('finds a problem in %j', (sql, fault) => expect(judgeMigration(sql)).toEqual([expect.stringMatching(fault)]))

it.each([
  'CREATE TABLE a (id int NOT NULL); CREATE INDEX i ON a (id); ALTER TABLE a ALTER COLUMN id TYPE bigint',
  'ALTER TABLE tasks ADD COLUMN a text, ADD COLUMN b int NOT NULL DEFAULT 0',
  "ALTER TABLE tasks ADD COLUMN a text[] DEFAULT '{}', ADD COLUMN b timestamptz(3) NOT NULL DEFAULT now()",
  'ALTER TABLE tasks ADD CONSTRAINT c CHECK (attempts >= 0) NOT VALID',
  'ALTER TABLE tasks VALIDATE CONSTRAINT c',
  'CREATE INDEX CONCURRENTLY i ON tasks (topic)',
  'CREATE INDEX i ON users (name)',
  'DROP INDEX i',
  'ALTER TABLE tasks ALTER COLUMN topic DROP NOT NULL',
  'CREATE FUNCTION f() RETURNS void AS $$ BEGIN DROP TABLE tasks; TRUNCATE runs; END $$ LANGUAGE plpgsql',
])('finds no problem in %j', sql => expect(judgeMigration(sql)).toEqual([]))

const migrations = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())

it.each(migrations.map(({ name }) => name))('is compatible with the previous version: %s', name => {
  const faults = judgeMigration(readFileSync(new URL(`${name}/migration.sql`, folder), 'utf8'))
  if (name in contractPhases) return expect(contractPhases[name]).not.toBe('')
  expect(faults).toEqual([])
})

it('exempts only migrations that exist', () => {
  expect(Object.keys(contractPhases).filter(name => !migrations.some(entry => entry.name === name))).toEqual([])
})

/** Tables with many rows. A statement that locks one of them while it reads all rows stops the services. */
const bigTables = ['tasks', 'task_requests', 'runs', 'outbox', 'audit_log', 'run_statistics', 'idempotency_keys']

type Rule = { pattern: RegExp; problem: string }

const breaksPreviousVersion: Rule[] = [
  { pattern: /^DROP (?!INDEX|FUNCTION|TRIGGER)/i, problem: 'drops something that the previous version may use' },
  { pattern: /^ALTER TABLE .*\bDROP (?!DEFAULT|CONSTRAINT|NOT NULL)/i, problem: 'drops a column' },
  { pattern: /^ALTER .*\bRENAME\b/i, problem: 'renames something that the previous version uses' },
  { pattern: /^ALTER TABLE .*\bSET NOT NULL\b/i, problem: 'refuses rows that the previous version writes' },
  { pattern: /^ALTER TABLE .*\bALTER (COLUMN )?\S+ (SET DATA )?TYPE\b/i, problem: 'changes the type of a column' },
  { pattern: /^TRUNCATE\b/i, problem: 'removes rows' },
]

const columnDefinition = /^ADD (?:COLUMN )?(?:IF NOT EXISTS )?(?!CONSTRAINT\b|CHECK\b|FOREIGN\b|UNIQUE\b|PRIMARY\b)/i
// A default that is a constant, or the same for all rows, is stored once. Any other is computed for each row.
const constantDefault = /DEFAULT (?:'[^']*'(?:::\w+(?:\[\])?)?|-?[\d.]+|true|false|null|now\(\)|current_timestamp)/i

// Of one part of ALTER TABLE, on a big table.
const locksBigTable: Rule[] = [
  {
    pattern: /^ADD .*\b(?:CHECK|FOREIGN KEY)\b(?!.*NOT VALID)/i,
    problem: 'reads every row: add the constraint as NOT VALID',
  },
  { pattern: /^ADD .*\b(?:UNIQUE|PRIMARY KEY|EXCLUDE)\b(?!.*USING INDEX)/i, problem: 'builds an index under a lock' },
  {
    pattern: /^ADD .*\bGENERATED\b|^ADD .*\b\w*serial\b|^SET (?:UNLOGGED|LOGGED|TABLESPACE|ACCESS)/i,
    problem: 'rewrites the table',
  },
]

// Everything else is not known, and a problem.
const harmless = [
  /^CREATE (OR REPLACE )?(TABLE|UNLOGGED TABLE|FUNCTION|VIEW|TYPE|SCHEMA|SEQUENCE|TRIGGER|(UNIQUE )?INDEX)\b/i,
  /^ALTER TABLE\b/i,
  /^ALTER (TYPE \S+ ADD VALUE|FUNCTION|SEQUENCE)\b/i,
  /^DROP (INDEX|FUNCTION|TRIGGER)\b/i,
  /^(INSERT INTO|SELECT|COMMENT ON|GRANT|REVOKE)\b/i,
]

/**
 * Finds statements of a migration that would break the previous version, or block it for long. Ignores tables that the
 * migration itself creates.
 */
function judgeMigration(sql: string): string[] {
  const statements = statementsOf(sql)
  const created = new Set(
    statements.flatMap(
      text => /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(?:"?\w+"?\.)?"?(\w+)/i.exec(text)?.[1] ?? [],
    ),
  )
  return statements.flatMap(text => {
    const table = tableOf(text)
    if (created.has(table)) return []
    const problems = breaksPreviousVersion.filter(({ pattern }) => pattern.test(text)).map(({ problem }) => problem)
    if (needsValueOfOldVersion(text)) problems.push('adds a column that the previous version does not fill')
    if (bigTables.includes(table)) problems.push(...problemsOfBigTable(text, table))
    if (/^CREATE (UNIQUE )?INDEX CONCURRENTLY (IF NOT EXISTS )?ON\b/i.test(text))
      problems.push('has no name, so it cannot be repeated')
    if (/^DO\b/i.test(text)) problems.push('runs at once, and is not checked')
    else if (problems.length === 0 && !isKnown(text, table)) problems.push('is not known to be harmless')
    return problems.map(problem => `${text.slice(0, 80)}: ${problem}`)
  })
}

function tableOf(text: string): string {
  const before =
    /^(?:ALTER TABLE (?:ONLY |IF EXISTS )*|CREATE (?:UNIQUE )?INDEX .*?\bON (?:ONLY )?|UPDATE (?:ONLY )?|DELETE FROM (?:ONLY )?)/i
  const prefix = before.exec(text)?.[0]
  return (prefix !== undefined && /^(?:"?\w+"?\.)?"?(\w+)/.exec(text.slice(prefix.length))?.[1]) || ''
}

function isKnown(text: string, table: string): boolean {
  const changesFewRows = /^(UPDATE|DELETE FROM)\b/i.test(text) && !bigTables.includes(table)
  return changesFewRows || harmless.some(pattern => pattern.test(text))
}

function problemsOfBigTable(text: string, table: string): string[] {
  if (/^CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)/i.test(text))
    return [`locks ${table} against writes while an index is built`]
  if (/^(UPDATE|DELETE)\b/i.test(text)) return ['changes every row in one transaction']
  return partsOf(text).flatMap(part => {
    const rule = locksBigTable.find(({ pattern }) => pattern.test(part))
    if (rule) return [rule.problem]
    if (!columnDefinition.test(part)) return []
    if (/\bREFERENCES\b/i.test(part)) return ['reads every row: add the constraint later, as NOT VALID']
    return /\bDEFAULT\b/i.test(part) && !constantDefault.test(part) ? ['rewrites the table'] : []
  })
}

// The parts of an ALTER TABLE.
function partsOf(text: string): string[] {
  const actions = text.replace(/^ALTER TABLE (?:ONLY |IF EXISTS )*(?:"?\w+"?\.)?"?\w+"? /i, '')
  return actions.split(/,\s*(?=(?:ADD|ALTER|DROP|SET|VALIDATE)\b)/i)
}

function needsValueOfOldVersion(text: string): boolean {
  if (!/^ALTER TABLE /i.test(text)) return false
  return partsOf(text).some(
    part => columnDefinition.test(part) && /\bNOT NULL\b/i.test(part) && !/\b(DEFAULT|GENERATED)\b/i.test(part),
  )
}
