import { parseHttpDate } from '../http-date.ts'
import type { AttemptOutcome } from '../next-attempt.ts'
import { parseDuration } from './parse-duration.ts'

const nonRetryableStatus = 489

/** Returns whether a response to a message forbids retries: 489 does, with `Upstash-NonRetryable-Error: true`. */
export function endsMessage({ status, headers }: Extract<AttemptOutcome, { kind: 'response' }>): boolean {
  const value = String(headers['upstash-nonretryable-error'])
  return status === nonRetryableStatus && value.trim().toLowerCase() === 'true'
}

const maxMs = 86_400_000

// In the order in which they count.
const names = ['retry-after', 'x-ratelimit-reset', 'x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens']

/**
 * Returns the delay that the target of a message asks for in `Retry-After` or one of the `X-RateLimit-Reset` headers, with
 * any status, in milliseconds, or null if it does not ask. Each value may be a number of seconds, a date, or a duration such
 * as `6m5s`. A delay of more than a day is ignored.
 */
export function messageDelayMs(outcome: AttemptOutcome, now: Date): number | null {
  if (outcome.kind === 'failure') return null
  for (const name of names) {
    const value = outcome.headers[name]
    const ms = readDelay(Array.isArray(value) ? value[0] : value, now)
    if (ms !== null) return ms <= maxMs ? ms : null
  }
  return null
}

function readDelay(header: string | undefined, now: Date): number | null {
  const value = header?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000)
  const duration = parseDuration(value)
  if (duration !== null) return duration
  const date = parseHttpDate(value, now)
  return date === null ? null : Math.max(0, date.getTime() - now.getTime())
}
