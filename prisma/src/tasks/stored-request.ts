import type { Backoff } from '../generated/enums.ts'

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

/** The column of each field, in every table that has them. */
export const requestColumnOf = {
  url: 'url',
  method: 'method',
  headers: 'headers',
  payload: 'payload',
  maxRetries: 'max_retries',
  backoff: 'backoff',
  baseDelayMs: 'base_delay_ms',
  maxDelayMs: 'max_delay_ms',
  timeoutMs: 'timeout_ms',
} as const satisfies Record<keyof StoredRequest, string>
