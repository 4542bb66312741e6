import type { Cell, Colour } from './output.ts'
import { printable } from './printable.ts'

type Piece = { text: string; colour?: Colour }

const gap = 2
const widest = 40

/** Aligns cells in columns. The last column takes the remaining width. */
export function alignColumns(rows: ReadonlyArray<readonly Cell[]>, width: number): Piece[][] {
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
