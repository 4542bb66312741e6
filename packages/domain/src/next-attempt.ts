import { parseHttpDate } from './http-date.ts'
import { type RetryPolicy, retryDelayMs } from './retry.ts'

/** The outcome of an attempt: the target's response, with header names in lower case, or the code of the failure. */
export type AttemptOutcome =
  | { kind: 'response'; status: number; headers: Readonly<Record<string, string | string[]>> }
  | { kind: 'failure'; code: string }

export type NextAttempt = { state: 'success' } | { state: 'retrying'; delayMs: number } | { state: 'dead' }

export type EndedAttempt = {
  policy: RetryPolicy
  /** 1 for the first attempt. */
  attempt: number
  outcome: AttemptOutcome
  now: Date
  random: () => number
}

// Failures of Belfry, or before the target had a fair chance.
const ownFailures: readonly string[] = ['worker_lost', 'stale_connection']
const hopelessFailures: readonly string[] = [
  'blocked_address',
  'secret_missing',
  'secret_not_allowed',
  'connection_missing',
  'connection_not_allowed',
]
const goneStatus = 410
const retryAfterStatuses: readonly number[] = [429, 503]

/** Returns the next state of a task after an attempt. */
export function nextAttempt({ policy, attempt, outcome, now, random }: EndedAttempt): NextAttempt {
  if (isSuccess(outcome)) return { state: 'success' }
  const own = endedWithoutPolicy(outcome)
  if (own) return own
  if (isHopeless(outcome) || attempt > policy.maxRetries) return { state: 'dead' }
  const delayMs = Math.max(retryDelayMs(policy, attempt, random), askedDelayMs(outcome, now))
  return { state: 'retrying', delayMs }
}

/**
 * Returns the next state after an attempt in which the target did not fail: the next one follows at once, even when no retry
 * is left. Null for every other outcome.
 */
export function endedWithoutPolicy(outcome: AttemptOutcome): NextAttempt | null {
  const isOwn = outcome.kind === 'failure' && ownFailures.includes(outcome.code)
  return isOwn ? { state: 'retrying', delayMs: 0 } : null
}

/** Returns whether the target responded with a 2xx status. */
export function isSuccess(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'response' && outcome.status >= 200 && outcome.status <= 299
}

/** Returns whether no retry can succeed. */
export function isHopeless(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'response' ? outcome.status === goneStatus : hopelessFailures.includes(outcome.code)
}

/** Returns for how long a 429 or 503 asks Belfry to wait; 0 when it does not. It may ask for a later retry, never for an earlier one. */
export function askedDelayMs(outcome: AttemptOutcome, now: Date): number {
  if (outcome.kind !== 'response' || !retryAfterStatuses.includes(outcome.status)) return 0
  const value = outcome.headers['retry-after']
  return parseRetryAfter(Array.isArray(value) ? value[0] : value, now) ?? 0
}

const maxRetryAfterMs = 24 * 3_600_000

/** Parses a `Retry-After` header into milliseconds from now, at most 24 hours; returns null when it is invalid. */
export function parseRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, maxRetryAfterMs)
  const date = parseHttpDate(value, now)
  return date === null ? null : Math.min(Math.max(date.getTime() - now.getTime(), 0), maxRetryAfterMs)
}
