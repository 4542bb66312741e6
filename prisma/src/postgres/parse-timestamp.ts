import pg from 'pg'

const parseAny = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date
const [dash, zero] = [0x2d, 0x30]
// The form of every time between the years 1000 and 9999, on a connection in UTC: 2026-01-31 23:59:59.123456+00.
const [fractionAt, utc] = [20, '+00']

/** Parses a timestamptz as node-postgres does, at a tenth of the price for the usual form: a created task has three of them. */
export function parseTimestamp(text: string): Date {
  if (text.charCodeAt(4) !== dash || !text.endsWith(utc)) return parseAny(text)
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5) - 1
  const at = Date.UTC(year, month, twoDigits(text, 8), twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17))
  const end = text.length - utc.length
  let ms = 0
  for (let i = 0; i < 3; i++) ms = ms * 10 + (fractionAt + i < end ? text.charCodeAt(fractionAt + i) - zero : 0)
  return new Date(at + ms)
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - zero) * 10 + text.charCodeAt(at + 1) - zero
}
