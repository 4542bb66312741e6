import { styleText } from 'node:util'
import { stringifyJson } from '@belfry/client'

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

export type Output = ReturnType<typeof createOutput>

// Enough to align a screen, and few enough to arrive soon.
const alignedTogether = 50

export function createOutput(stream: OutputStream, { isJson, env }: { isJson: boolean; env: object }) {
  const isTerminal = stream.isTTY === true
  const isColoured = isTerminal && stream.hasColors?.(env) === true
  const paint = (text: string, colour: Colour): string =>
    isColoured ? styleText(colour, text, { validateStream: false }) : text
  const painted = ({ text, colour }: Piece) => (colour ? paint(text, colour) : text)
  const writeLine = (text: string) => stream.write(`${text}\n`)
  const writeJson = (value: unknown) => writeLine(stringifyJson(value))

  function writeTogether(heading: readonly string[] | null, rows: readonly Row[]): void {
    const titles = heading?.map((text): Cell => ({ text, colour: 'bold' }))
    const cells = [...(titles ? [titles] : []), ...rows.map(row => row.cells)]
    for (const line of alignColumns(cells, stream.columns ?? 80)) writeLine(line.map(painted).join('').trimEnd())
  }

  function writeRow({ value, cells }: Row): void {
    if (isJson) writeJson(value)
    else writeLine(cells.map(cell => painted(toPiece(cell))).join(isTerminal ? '  ' : '\t'))
  }

  return {
    isJson,
    paint,
    /** Prints a line of text, except with --json. */
    say(text: string): void {
      if (!isJson) writeLine(text)
    },
    /** Prints an object as one line of JSON, or as text. */
    show(value: unknown, text: string): void {
      if (isJson) writeJson(value)
      else writeLine(text)
    },
    /** Prints one row immediately. */
    row: writeRow,
    /** Prints rows as they arrive: aligned on a terminal, separated by tabs elsewhere, or one JSON object per line. */
    async rows(heading: readonly string[], rows: Iterable<Row> | AsyncIterable<Row>): Promise<number> {
      let count = 0
      let waiting: Row[] = []
      let isFirst = true
      for await (const row of rows) {
        count += 1
        if (isJson || !isTerminal) writeRow(row)
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

type Piece = { text: string; colour?: Colour }

const gap = 2
const widest = 40

/** Aligns cells in columns. The last column takes the remaining width. */
function alignColumns(rows: ReadonlyArray<readonly Cell[]>, width: number): Piece[][] {
  const pieces = rows.map(row => row.map(toPiece))
  const columns = Math.max(0, ...pieces.map(row => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.min(widest, Math.max(...pieces.map(row => row[column]?.text.length ?? 0))),
  )
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + gap, 0)
  return pieces.map(row =>
    row.map((piece, column) => {
      const isLast = column === columns - 1
      const text = shorten(piece.text, isLast ? Math.max(20, width - before) : (widths[column] ?? 0))
      return { ...piece, text: isLast ? text : text.padEnd((widths[column] ?? 0) + gap) }
    }),
  )
}

function toPiece(cell: Cell): Piece {
  return typeof cell === 'string' ? { text: printable(cell) } : { ...cell, text: printable(cell.text) }
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** Returns untrusted text on one line, without control characters for the terminal. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be printed
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, ' ')
}
