import type { Backoff } from './generated/enums.ts'

/** What is sent, how often it is tried, and how long one try may take: the same for a task and a cron job. */
export type StoredRequest = {
  url: string
  method: string
  /** A JSON object of strings, as text. */
  headers: string
  /** JSON text as it was sent; null when there was none. */
  payload: string | null
  maxRetries: number
  backoff: Backoff
  baseDelayMs: number
  maxDelayMs: number
  timeoutMs: number
}
