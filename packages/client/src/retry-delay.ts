import { ApiError, ConnectionError } from './errors.ts'

const firstDelayMs = 500
const longestDelayMs = 8_000
const longestRetryAfterMs = 60_000

/**
 * How long to wait before a call is repeated; null when it must not be. A refusal with 429 or 503 has changed nothing,
 * so it may always be repeated; after anything else only a call that is harmless twice.
 */
export function retryDelayMs(
  error: unknown,
  attempt: number,
  isRepeatable: boolean,
  random = Math.random,
): number | null {
  const backoff = Math.min(firstDelayMs * 2 ** (attempt - 1), longestDelayMs) * (0.5 + random() / 2)
  if (error instanceof ConnectionError) return isRepeatable ? backoff : null
  if (!(error instanceof ApiError)) return null
  if (error.code === 'idempotency_in_progress') return backoff
  if (error.status === 429 || error.status === 503) {
    const asked = retryAfterMs(error.headers)
    if (asked !== null && asked > longestRetryAfterMs) return null
    return Math.max(asked ?? 0, backoff)
  }
  return isRepeatable && [500, 502, 504].includes(error.status) ? backoff : null
}

function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}
