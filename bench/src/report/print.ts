import { cellsOf, type FigureCells } from './figure-cells.ts'
import type { StoredResult } from './results.ts'

const columns = ['key', 'value', 'spread', 'demanded', 'verdict', 'title'] as const satisfies Array<keyof FigureCells>

/** Lays the figures of a benchmark out as a table. */
export function toTable(result: Pick<StoredResult, 'title' | 'figures' | 'notes' | 'seconds'>): string {
  const rows = result.figures.map(cellsOf)
  const widths = columns.map(column => Math.max(...rows.map(row => row[column].length)))
  const lines = rows.map(row =>
    columns
      .map((column, i) => row[column].padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const notes = (result.notes ?? []).map(note => `note: ${note}`)
  const title = `${result.title} (${Math.round(result.seconds)} s)`
  return [title, ...[...lines, ...notes].map(line => `  ${line}`)].join('\n')
}
