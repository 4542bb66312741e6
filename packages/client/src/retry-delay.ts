import { ApiError, ConnectionError } from './errors.ts'

const firstDelayMs = 500
const maxDelayMs = 8_000
const maxRetryAfterMs = 60_000

/**
 * Returns the delay before a retry, in milliseconds, or null if the request must not be retried. After a 429 a retry is always
 * safe: Belfry has rejected the request. In other cases, such as a commit whose end a 503 does not know, only idempotent
 * requests are retried.
 */
export function retryDelayMs(error: unknown, attempt: number, isRepeatable: boolean): number | null {
  const backoff = Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs) * (0.5 + Math.random() / 2)
  if (error instanceof ConnectionError) return isRepeatable ? backoff : null
  if (!(error instanceof ApiError)) return null
  if (error.code === 'idempotency_in_progress') return backoff
  if (error.status === 429 || (error.status === 503 && isRepeatable)) {
    const asked = error.retryAfterMs ?? 0
    return asked > maxRetryAfterMs ? null : Math.max(asked, backoff)
  }
  return isRepeatable && [500, 502, 504].includes(error.status) ? backoff : null
}
