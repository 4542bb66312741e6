import { join } from 'node:path'
import { repositoryRoot } from '../repository-root.ts'
import type { Template } from './fixture/template.ts'
import type { Row, RowResult } from './row.ts'
import { type RowOptions, runRow } from './run-row.ts'

// The machines that this is made for have two cores.
const rowsAtOnce = 2

/** Runs rows, two at a time. */
export async function runRows(
  rows: readonly Row[],
  template: Template,
  options: RowOptions,
  onResult: (result: RowResult) => void,
): Promise<RowResult[]> {
  const line = [...rows]
  const results: RowResult[] = []
  const logs = join(repositoryRoot(), 'e2e/dist/faults')
  const lanes = Array.from({ length: rowsAtOnce }, async () => {
    for (let row = line.shift(); row; row = line.shift()) {
      const result = await runRow(row, template, { ...options, logs })
      results.push(result)
      onResult(result)
    }
  })
  await Promise.all(lanes)
  return results.sort((a, b) => a.row.id.localeCompare(b.row.id))
}
