/** How the delay grows from retry to retry. */
export const backoffs = ['exponential', 'linear', 'fixed'] as const

export type Backoff = (typeof backoffs)[number]

export type RetryPolicy = {
  /** The maximum number of attempts after the first. */
  maxRetries: number
  backoff: Backoff
  /** The delay before the first retry. */
  baseDelayMs: number
  maxDelayMs: number
  /** The exact delay before each retry, the first one first, instead of delays that grow. Optional. */
  delaysMs?: readonly number[]
}

export const retryDefaults: Readonly<RetryPolicy> = {
  maxRetries: 5,
  backoff: 'exponential',
  baseDelayMs: 10_000,
  maxDelayMs: 3_600_000,
}

/** By what the first delay is multiplied for a retry. */
const growths: Readonly<Record<Backoff, (retryNumber: number) => number>> = {
  exponential: retryNumber => 4 ** (retryNumber - 1),
  linear: retryNumber => retryNumber,
  fixed: () => 1,
}
const jitter = 0.1

/**
 * Returns the delay before a retry, 1 being the first. `random` returns a number in [0, 1) for a jitter of ±10 %. Listed
 * delays are exact.
 */
export function retryDelayMs(policy: RetryPolicy, retryNumber: number, random: () => number): number {
  const listed = policy.delaysMs?.[retryNumber - 1]
  if (listed !== undefined) return listed
  const delay = Math.min(policy.baseDelayMs * growths[policy.backoff](retryNumber), policy.maxDelayMs)
  return Math.round(delay * (1 - jitter + 2 * jitter * random()))
}
