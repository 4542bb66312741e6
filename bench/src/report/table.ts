import type { Figure } from '../benchmark.ts'
import type { StoredResult } from './results.ts'

/** A figure as the cells of a table row. */
export type FigureCells = Record<'key' | 'value' | 'spread' | 'required' | 'verdict' | 'title', string>

export function cellsOf(figure: Figure): FigureCells {
  const isMet = meetsLimit(figure)
  return {
    key: figure.key,
    value: `${shortNumber(figure.value)}${figure.unit ? ` ${figure.unit}` : ''}`,
    spread: `${shortNumber(figure.min)} - ${shortNumber(figure.max)}`,
    required: requirementOf(figure),
    verdict: isMet === null ? '' : isMet ? 'pass' : 'FAIL',
    title: figure.title,
  }
}

/** Returns whether a figure is within its limit; null without one. */
export function meetsLimit({ value, limit }: Figure): boolean | null {
  if (!limit) return null
  return 'atLeast' in limit ? value >= limit.atLeast : value <= limit.atMost
}

function requirementOf({ limit }: Figure): string {
  if (!limit) return ''
  const required = 'atLeast' in limit ? `>= ${limit.atLeast}` : `<= ${limit.atMost}`
  return limit.aim === undefined ? required : `${required}, aim ${limit.aim}`
}

// A benchmark is not exact to more than three digits.
function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return '-'
  if (Math.abs(value) >= 100) return Math.round(value).toString()
  return Number(value.toPrecision(3)).toString()
}

const columns = ['key', 'value', 'spread', 'required', 'verdict', 'title'] as const

/** Formats the figures of a benchmark as a table for the terminal. */
export function toTable(result: Pick<StoredResult, 'title' | 'figures' | 'notes' | 'seconds'>): string {
  const rows = result.figures.map(cellsOf)
  const widths = columns.map(column => Math.max(...rows.map(row => row[column].length)))
  const pad = (row: FigureCells) => columns.map((column, i) => row[column].padEnd(widths[i] ?? 0)).join('  ')
  const lines = [...rows.map(row => pad(row).trimEnd()), ...(result.notes ?? []).map(note => `note: ${note}`)]
  return [`${result.title} (${Math.round(result.seconds)} s)`, ...lines.map(line => `  ${line}`)].join('\n')
}
