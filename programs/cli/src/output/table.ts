import type { Cell, Row } from './output.ts'

export type Table<T> = { heading: readonly string[]; row(item: T): Row }

/** A column of a table: a field of the answer, or another heading with its cells. */
type Column<T> = (keyof T & string) | readonly [heading: string, cell: (item: T) => Cell]

export function tableOf<T>(...columns: ReadonlyArray<Column<T>>): Table<T> {
  return {
    heading: columns.map(column => (typeof column === 'string' ? headingOf(column) : column[0])),
    row: item => ({
      value: item,
      cells: columns.map(column => (typeof column === 'string' ? textOf(item[column]) : column[1](item))),
    }),
  }
}

// A time has no suffix: `nextRunAt` is NEXT RUN.
function headingOf(field: string): string {
  const words = field.replace(/At$/, '').replace(/[A-Z]/g, letter => ` ${letter}`)
  return words.toUpperCase()
}

function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return Array.isArray(value) ? value.join(' ') : String(value ?? '-')
}
