import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'
import { rowsOf } from './publish-results.ts'
import { allRows } from './rows/all-rows.ts'
import { testRows } from './test-rows.ts'

// The most telling of those that take seconds: calls in flight while PostgreSQL crashes. Others are in faults.long.ts.
testRows(['F42'])

it('docs/fault-tests.md has each row once', () => {
  const page = readFileSync(join(repositoryRoot(), 'docs/fault-tests.md'), 'utf8')
  expect(rowsOf(page).sort()).toEqual(allRows.map(({ id }) => id).sort())
})
