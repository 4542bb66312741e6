import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findRedisServer } from '@belfry/test-support/servers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'
import { makeTemplate, type Template } from './fixture/template.ts'
import type { RowResult } from './row.ts'
import { allRows } from './rows/all-rows.ts'
import { runRows } from './run-rows.ts'

/** Runs fault rows as the tests of a file. */
export function testRows(ids: readonly string[]): void {
  // Each row harms its own Redis.
  const rows = findRedisServer() ? allRows.filter(({ id }) => ids.includes(id)) : []
  let template: Template
  let results: RowResult[]

  beforeAll(async () => {
    if (rows.length === 0) return
    await promisify(execFile)(process.execPath, [join(repositoryRoot(), 'scripts/bundle-faults.mjs'), '--bundled'])
    template = await makeTemplate()
    results = await runRows(rows, template, { seed: 1, limitMs: 240_000 }, () => {})
  }, 1_500_000) // more than the limits of all rows, two at a time, so a row that hangs is named
  afterAll(() => template?.remove())

  it('runs on a machine with Redis', () => {
    expect(rows.length).toBe(findRedisServer() ? ids.length : 0)
  })

  it.each(rows)('$id: after $fault ($moment), $expected', ({ id }) => {
    const result = results.find(({ row }) => row.id === id)
    expect(result?.complaints.join('\n')).toBe('')
    expect(result?.status).toBe('passed')
  })
}
