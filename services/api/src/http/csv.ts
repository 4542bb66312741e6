/** What a cell of a table holds. */
export type Cell = string | number | boolean | null

/** One line of CSV (RFC 4180). Text that a spreadsheet would run as a formula is made plain text by an apostrophe. */
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
