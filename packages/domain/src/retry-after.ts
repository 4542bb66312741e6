import { parseHttpDate } from './http-date.ts'

const longestMs = 24 * 3_600_000

/** Reads a `Retry-After` header as milliseconds from now, at most 24 hours; null for what is not one. */
export function parseRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, longestMs)
  const date = parseHttpDate(value, now)
  return date === null ? null : Math.min(Math.max(date.getTime() - now.getTime(), 0), longestMs)
}
