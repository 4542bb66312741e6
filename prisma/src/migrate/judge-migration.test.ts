import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { judgeMigration } from './judge-migration.ts'

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
