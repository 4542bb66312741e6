import type { Backoff } from '../generated/enums.ts'

/** The request of a task or a cron job, with its retries and its timeout. */
export type StoredRequest = {
  url: string
  method: string
  /** A JSON object of strings, as text. */
  headers: string
  /** JSON text as the client sent it; null when there was none. */
  payload: string | null
  maxRetries: number
  backoff: Backoff
  baseDelayMs: number
  maxDelayMs: number
  timeoutMs: number
}

/** The column of each field, in each table that has them. */
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
