import { parseHttpDate } from './http-date.ts'
import { endsMessage, messageDelayMs } from './qstash/message-response.ts'
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
  /** Whether the target answers as a receiver of QStash. Default: false. */
  isMessage?: boolean
  /** Whether it is an event for an MCP client: a `413` is then final. Default: false. */
  isMcp?: boolean
}

// Failures of Belfry, or before the target had a fair chance.
const ownFailures: readonly string[] = ['worker_lost', 'stale_connection']
const hopelessFailures: readonly string[] = [
  'blocked_address',
  'secret_missing',
  'secret_invalid',
  'secret_not_allowed',
  'connection_missing',
  'connection_not_allowed',
]
const goneStatus = 410
const tooLargeStatus = 413
const retryAfterStatuses: readonly number[] = [429, 503]

const success: NextAttempt = { state: 'success' }

export function nextAttempt({
  policy,
  attempt,
  outcome,
  now,
  random,
  isMessage = false,
  isMcp = false,
}: EndedAttempt): NextAttempt {
  if (isSuccess(outcome)) return success
  // The target did not fail, so the next attempt follows even when no retry is left.
  if (outcome.kind === 'failure' && ownFailures.includes(outcome.code)) return { state: 'retrying', delayMs: 0 }
  if (isHopeless(outcome, isMessage, isMcp) || attempt > policy.maxRetries) return { state: 'dead' }
  const delayMs = retryDelayMs(policy, attempt, random)
  if (isMessage) return { state: 'retrying', delayMs: messageDelayMs(outcome, now) ?? delayMs }
  return { state: 'retrying', delayMs: Math.max(delayMs, askedDelayMs(outcome, now)) }
}

function isSuccess(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'response' && outcome.status >= 200 && outcome.status <= 299
}

function isHopeless(outcome: AttemptOutcome, isMessage: boolean, isMcp: boolean): boolean {
  if (outcome.kind === 'failure') return hopelessFailures.includes(outcome.code)
  if (isMessage) return endsMessage(outcome)
  return outcome.status === goneStatus || (isMcp && outcome.status === tooLargeStatus)
}

/** Returns how long a 429 or 503 asks Belfry to wait, or 0. It can only make the retry later, not earlier. */
export function askedDelayMs(outcome: AttemptOutcome, now: Date): number {
  if (outcome.kind !== 'response' || !retryAfterStatuses.includes(outcome.status)) return 0
  const value = outcome.headers['retry-after']
  return parseRetryAfter(Array.isArray(value) ? value[0] : value, now) ?? 0
}

const maxRetryAfterMs = 24 * 3_600_000

/**
 * Parses a `Retry-After` header into milliseconds from now, at most 24 hours; returns null when it is invalid. Fractions of a
 * second, e.g. from Discord, are rounded up.
 */
export function parseRetryAfter(value: string | undefined, now: Date): number | null {
  const text = value?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text)) * 1000, maxRetryAfterMs)
  const date = parseHttpDate(text, now)
  return date === null ? null : Math.min(Math.max(date.getTime() - now.getTime(), 0), maxRetryAfterMs)
}
