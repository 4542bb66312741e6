import { type EndedAttempt, endedWithoutPolicy, isHopeless, isSuccess, type NextAttempt } from '../next-attempt.ts'
import { askedDelayMs } from './asked-delay.ts'

const nonRetryableStatus = 489

/**
 * Returns the next state of a message of the QStash interface after an attempt. Unlike for other tasks, the target decides
 * about the delay with any status, 410 is a failure like others, and 489 with `Upstash-NonRetryable-Error: true` is final.
 */
export function nextMessageAttempt(
  delaysMs: readonly number[],
  {
    policy,
    attempt,
    outcome,
    now,
  }: Pick<EndedAttempt, 'attempt' | 'outcome' | 'now'> & { policy: { maxRetries: number } },
): NextAttempt {
  if (isSuccess(outcome)) return { state: 'success' }
  const own = endedWithoutPolicy(outcome)
  if (own) return own
  if (attempt > policy.maxRetries) return { state: 'dead' }
  if (outcome.kind === 'failure')
    return isHopeless(outcome) ? { state: 'dead' } : { state: 'retrying', delayMs: delayOf(delaysMs, attempt) }
  if (outcome.status === nonRetryableStatus && isTrue(outcome.headers['upstash-nonretryable-error']))
    return { state: 'dead' }
  return { state: 'retrying', delayMs: askedDelayMs(outcome.headers, now) ?? delayOf(delaysMs, attempt) }
}

function delayOf(delaysMs: readonly number[], retry: number): number {
  return delaysMs[retry - 1] ?? delaysMs.at(-1) ?? 0
}

function isTrue(value: string | string[] | undefined): boolean {
  return String(value).trim().toLowerCase() === 'true'
}
