import { expect, it } from 'vitest'
import { judgeMigrations } from './database.ts'

const nothing = { pending: [], unknown: [], edited: [], replaced: [] }

it.each([
  ['pending', 'problem', '1 migrations of this version are not applied, first one.'],
  ['unknown', 'warning', 'The database has 1 migrations of a later version, last one.'],
  ['edited', 'warning', '1 migrations were applied with another text, first one.'],
  ['replaced', 'warning', 'A later version has replaced functions of 1 files, first one.'],
] as const)('%s migrations are a %s', (kind, level, message) => {
  expect(judgeMigrations({ ...nothing, [kind]: ['one'] })).toMatchObject([{ level, message }])
})

it('a database that agrees with this version is no problem', () => {
  expect(judgeMigrations(nothing)).toMatchObject([{ level: 'ok' }])
})
