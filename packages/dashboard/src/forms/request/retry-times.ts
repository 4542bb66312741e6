import { type Backoff, backoffs, retryDelayMs } from '@belfry/domain/retry'
import type { RequestDraft } from './request-draft.ts'

const mostRetries = 20

/** When the retries would start, in ms after the first attempt, were every attempt to fail at once; without the spread of 10 %. */
export function retryTimes(draft: RequestDraft): number[] {
  const backoff = backoffs.find((one): one is Backoff => one === draft.backoff)
  const maxRetries = Math.min(Number(draft.maxRetries), mostRetries)
  const policy = {
    maxRetries,
    baseDelayMs: Number(draft.baseDelaySeconds) * 1000,
    maxDelayMs: Number(draft.maxDelaySeconds) * 1000,
  }
  if (!backoff || !Number.isInteger(maxRetries) || !(policy.baseDelayMs > 0) || !(policy.maxDelayMs > 0)) return []
  let at = 0
  return Array.from({ length: maxRetries }, (_, index) => {
    at += retryDelayMs({ ...policy, backoff }, index + 1, () => 0.5)
    return at
  })
}
