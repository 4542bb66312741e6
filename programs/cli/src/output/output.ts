import { styleText } from 'node:util'
import { printable } from './printable.ts'
import { alignColumns } from './table.ts'

/** An output stream; terminals have columns and often colours. */
export type OutputStream = {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
  hasColors?(env?: object): boolean
}

export type Colour = 'red' | 'green' | 'yellow' | 'gray' | 'bold'

/** A cell of a row. Only terminals show its colour. */
export type Cell = string | { text: string; colour: Colour }

/** A row: `value` as JSON, or `cells` as text. */
export type Row = { value: unknown; cells: readonly Cell[] }

export type Output = {
  isJson: boolean
  /** Prints a line of text, except with --json. */
  say(text: string): void
  /** Prints an object as one line of JSON, or as text. */
  show(value: unknown, text: string): void
  /** Prints rows as they arrive: aligned on a terminal, separated by tabs elsewhere, or one JSON object per line. */
  rows(heading: readonly string[], rows: Iterable<Row> | AsyncIterable<Row>): Promise<number>
  /** Prints one row immediately. */
  row(row: Row): void
  paint(text: string, colour: Colour): string
}

// Enough to align a screen, and few enough to arrive soon.
const alignedTogether = 50

export function createOutput(stream: OutputStream, options: { isJson: boolean; env: object }): Output {
  const { isJson } = options
  const isTerminal = stream.isTTY === true
  const isColoured = isTerminal && stream.hasColors?.(options.env) === true
  const paint = (text: string, colour: Colour) =>
    isColoured ? styleText(colour, text, { validateStream: false }) : text
  const json = (value: unknown) => stream.write(`${JSON.stringify(value)}\n`)

  function writeTogether(heading: readonly string[] | null, rows: readonly Row[]): void {
    const cells = rows.map(({ cells }) => cells)
    const lines = alignColumns([...(heading ? [heading.map(bold)] : []), ...cells], stream.columns ?? 80)
    for (const line of lines)
      stream.write(
        `${line
          .map(({ text, colour }) => (colour ? paint(text, colour) : text))
          .join('')
          .trimEnd()}\n`,
      )
  }

  function lineCell(cell: Cell): string {
    const text = printable(textOf(cell))
    return typeof cell === 'string' ? text : paint(text, cell.colour)
  }

  return {
    isJson,
    paint,
    say(text) {
      if (!isJson) stream.write(`${text}\n`)
    },
    show(value, text) {
      if (isJson) json(value)
      else stream.write(`${text}\n`)
    },
    row(row) {
      if (isJson) json(row.value)
      else stream.write(`${row.cells.map(cell => lineCell(cell)).join(isTerminal ? '  ' : '\t')}\n`)
    },
    async rows(heading, rows) {
      let count = 0
      let waiting: Row[] = []
      let isFirst = true
      for await (const row of rows) {
        count += 1
        if (isJson) json(row.value)
        else if (!isTerminal) stream.write(`${row.cells.map(cell => printable(textOf(cell))).join('\t')}\n`)
        else if (waiting.push(row) === alignedTogether) {
          writeTogether(isFirst ? heading : null, waiting)
          waiting = []
          isFirst = false
        }
      }
      if (waiting.length > 0) writeTogether(isFirst ? heading : null, waiting)
      return count
    },
  }
}

function bold(text: string): Cell {
  return { text, colour: 'bold' }
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}
