import { expect, it } from 'vitest'
import { describeFailure } from './with-engine.ts'

it('returns the name of the migration and the message of PostgreSQL', () => {
  const error = new Error(
    [
      'external connector error',
      'Error querying the database: ERROR: division by zero (line 2)',
      '   0: sql_schema_connector::apply_migration::apply_script',
      '           with migration_name="20270101000000_divide"',
      '             at schema-engine/connectors/sql-schema-connector/src/apply_migration.rs:113',
    ].join('\n'),
  )
  expect(describeFailure(error)).toBe('Migration 20270101000000_divide failed: division by zero (line 2)')
})

it('keeps all lines of a message', () => {
  expect(describeFailure(new Error('The first line.\nThe second line.\n'))).toBe('The first line.\nThe second line.')
})
