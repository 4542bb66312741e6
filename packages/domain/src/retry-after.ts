import { parseHttpDate } from './http-date.ts'

const maxMs = 24 * 3_600_000

/** Parses a `Retry-After` header into milliseconds from now, at most 24 hours; returns null when it is invalid. */
export function parseRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, maxMs)
  const date = parseHttpDate(value, now)
  return date === null ? null : Math.min(Math.max(date.getTime() - now.getTime(), 0), maxMs)
}
