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

const growth = 4
const jitter = 0.1

/**
 * Returns the delay before a retry, 1 being the first. `random` returns a number in [0, 1) for a jitter of ±10 %. Listed
 * delays are exact.
 */
export function retryDelayMs(policy: RetryPolicy, retryNumber: number, random: () => number): number {
  const listed = policy.delaysMs?.[retryNumber - 1]
  if (listed !== undefined) return listed
  const delay = Math.min(grownDelay(policy, retryNumber), policy.maxDelayMs)
  return Math.round(delay * (1 - jitter + 2 * jitter * random()))
}

function grownDelay({ backoff, baseDelayMs }: RetryPolicy, retryNumber: number): number {
  switch (backoff) {
    case 'exponential':
      return baseDelayMs * growth ** (retryNumber - 1)
    case 'linear':
      return baseDelayMs * retryNumber
    case 'fixed':
      return baseDelayMs
  }
}
