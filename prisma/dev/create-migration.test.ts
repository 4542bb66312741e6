import { expect, it } from 'vitest'
import { normalizeMigrationName } from './create-migration.ts'

it.each([
  ['add_due_at', 'add_due_at'],
  ['Add due-at', 'add_due_at'],
  ['  drop runs! ', 'drop_runs'],
  ['../../etc', 'etc'],
])('turns %j into %j', (typed, normalized) => {
  expect(normalizeMigrationName(typed)).toBe(normalized)
})

it('refuses a name without letters and digits', () => {
  expect(() => normalizeMigrationName(' - ')).toThrow('at least one letter or digit')
})
