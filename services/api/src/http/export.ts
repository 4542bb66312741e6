import { exportMediaTypes } from '@belfry/contract/export'
import { AppError } from '@belfry/domain/app-error'
import { toJsonText } from '@belfry/present/raw-json'
import type { Request } from 'express'
import { repeatCheck } from './repeat-check.ts'
import { ApiResponse, whenOver } from './response.ts'

const rowsAtATime = 1000
const minPieceLength = 64 * 1024

type Cell = string | number | boolean | null

/** The columns of the CSV form, in their order. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => Cell>>

/** Returns columns that are members of an item, by their names. */
export function members<Name extends string>(...names: Name[]): Columns<Record<Name, Cell>> {
  return Object.fromEntries(names.map(name => [name, (item: Record<Name, Cell>) => item[name]]))
}

export type Export<Row, Item> = {
  /** The name of the file, without its extension. */
  name: string
  format: 'csv' | 'jsonl'
  /** Reads the rows after an id, newest first. `next` is the id after which the next page begins; null at the end. */
  read: (after: string | undefined, limit: number) => Promise<{ rows: Row[]; next: string | null }>
  present: (row: Row) => Item
  columns: Columns<Item>
  /** Rejects when the caller has lost the right to the list. */
  check: () => Promise<unknown>
}

const maxExports = 2
/** The exports that this process is sending. */
const inFlight = new Set<{ organizationId: string }>()

/**
 * Returns a whole list as a file. Rows are read as the caller receives them, so memory does not grow with the list.
 * @throws AppError `rate_limited` when the organization has two exports already.
 */
export function exportResponse<Row, Item>(request: Request, organizationId: string, content: Export<Row, Item>) {
  const { name, format } = content
  if ([...inFlight].filter(other => other.organizationId === organizationId).length >= maxExports) {
    const message = `An organization may have ${maxExports} exports at a time. Start this one when another has ended.`
    throw new AppError('rate_limited', message, { retryAfterMs: 5_000 })
  }
  const current = { organizationId }
  inFlight.add(current)
  whenOver(request, () => inFlight.delete(current)) // also when it is never sent
  return new ApiResponse({
    status: 200,
    pieces: format === 'csv' ? csvPieces(content) : lines(content, item => `${toJsonText(item)}\n`),
    headers: {
      'Content-Type': `${exportMediaTypes[format]}; charset=utf-8`,
      'Content-Disposition': `attachment; filename="${name}.${format}"`,
    },
  })
}

async function* csvPieces<Row, Item>(content: Export<Row, Item>) {
  const columns = Object.values(content.columns)
  yield csvLine(Object.keys(content.columns))
  yield* lines(content, item => csvLine(columns.map(column => column(item))))
}

// A caller that does not read keeps one page of rows and one piece in memory.
async function* lines<Row, Item>({ read, present, check }: Export<Row, Item>, toLine: (item: Item) => string) {
  const checkAgain = repeatCheck(check)
  for (let after: string | undefined | null; after !== null; ) {
    await checkAgain()
    const page: { rows: Row[]; next: string | null } = await read(after, rowsAtATime)
    let piece = ''
    for (const row of page.rows) {
      piece += toLine(present(row))
      if (piece.length < minPieceLength) continue
      yield piece
      piece = ''
    }
    if (piece !== '') yield piece
    after = page.next
  }
}

/** Returns one line of CSV (RFC 4180). An apostrophe keeps a spreadsheet from running a text as a formula. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(toField).join(',')}\r\n`
}

const formulaStart = /^[=+\-@\t\r]/

function toField(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = formulaStart.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
