import type { Backoff } from '../generated/enums.ts'

/** The request of a task or a cron job, with its retries and its timeout. */
export type StoredRequest = {
  url: string
  method: string
  /** A JSON object of strings, as text. */
  headers: string
  /** JSON text as the client sent it, or base64 when there is a content type; null when there was none. */
  payload: string | null
  /** The content type of a raw body. Default: null, for a JSON payload. */
  contentType?: string | null
  maxRetries: number
  backoff: Backoff
  baseDelayMs: number
  maxDelayMs: number
  /** The delays before each retry, as a JSON list as long as `maxRetries`. Default: null, for delays that grow. */
  retryDelays?: string | null
  timeoutMs: number
  /**
   * A JSON object as text, from `on_success`, `on_failure` and `on_attempt` to a target. Default: null. A change replaces
   * the targets that it names, and removes those that are null.
   */
  callbacks?: string | null
  /** The name of the queue. Default: none. */
  queue?: string | null
  /** What a message of the QStash interface has beyond a task: `QstashFields` as JSON text. Default: null, for no message. */
  qstash?: string | null
  /** The name of the connection that authenticates the calls. Default: none. */
  connection?: string | null
}

/** The column of each field, in each table that has them. */
export const requestColumnOf = {
  url: 'url',
  method: 'method',
  headers: 'headers',
  payload: 'payload',
  contentType: 'content_type',
  maxRetries: 'max_retries',
  backoff: 'backoff',
  baseDelayMs: 'base_delay_ms',
  maxDelayMs: 'max_delay_ms',
  retryDelays: 'retry_delays',
  timeoutMs: 'timeout_ms',
  callbacks: 'callbacks',
  queue: 'queue',
  qstash: 'qstash',
  connection: 'connection',
} as const satisfies Record<keyof StoredRequest, string>

/** Returns the SQL that selects columns of a table by the names of their fields. */
export function selectFields(alias: string, columns: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([field, column]) => `${alias}.${column} AS "${field}"`)
    .join(', ')
}

/** Returns the SQL of the new value of a column, from the parameter of a change. */
export function changedValue(column: string, parameter: string): string {
  if (column !== requestColumnOf.callbacks) return parameter
  const merged = `coalesce(${column}::jsonb, '{}') || ${parameter}::jsonb`
  return `nullif(jsonb_strip_nulls(${merged})::text, '{}')`
}
