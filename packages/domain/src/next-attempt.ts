import { type RetryPolicy, retryDelayMs } from './retry.ts'
import { parseRetryAfter } from './retry-after.ts'

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
const hopelessFailures: readonly string[] = ['blocked_address', 'secret_missing', 'secret_not_allowed']
const goneStatus = 410
const retryAfterStatuses: readonly number[] = [429, 503]

/** Returns the next state of a task after an attempt. */
export function nextAttempt({ policy, attempt, outcome, now, random }: EndedAttempt): NextAttempt {
  if (isSuccess(outcome)) return { state: 'success' }
  // The target did not fail, so the next attempt follows at once, even when no retry is left.
  if (outcome.kind === 'failure' && ownFailures.includes(outcome.code)) return { state: 'retrying', delayMs: 0 }
  if (isHopeless(outcome) || attempt > policy.maxRetries) return { state: 'dead' }
  const delayMs = Math.max(retryDelayMs(policy, attempt, random), askedDelayMs(outcome, now))
  return { state: 'retrying', delayMs }
}

function isSuccess(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'response' && outcome.status >= 200 && outcome.status <= 299
}

// No retry can succeed.
function isHopeless(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'response' ? outcome.status === goneStatus : hopelessFailures.includes(outcome.code)
}

// The target may ask for a later retry, never for an earlier one.
function askedDelayMs(outcome: AttemptOutcome, now: Date): number {
  if (outcome.kind !== 'response' || !retryAfterStatuses.includes(outcome.status)) return 0
  const value = outcome.headers['retry-after']
  return parseRetryAfter(Array.isArray(value) ? value[0] : value, now) ?? 0
}
