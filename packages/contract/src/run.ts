import { z } from 'zod'
import { repeatable, textField } from './fields.ts'
import { pageFields } from './page.ts'
import { type TaskSource, taskSources } from './task-source.ts'
import { type Fault, id, instant, line, oneOf } from './text-rules.ts'

export const runStatuses = ['success', 'failed'] as const

export type RunStatus = (typeof runStatuses)[number]

/** Why an attempt failed. */
export const runErrorCodes = [
  'timeout',
  'connection_refused',
  'connection_reset',
  'dns',
  'tls',
  'blocked_address',
  'too_many_redirects',
  'http_status',
  'invalid_response',
  'secret_missing',
  'worker_lost',
] as const

export type RunErrorCode = (typeof runErrorCodes)[number]

/** Response statuses, both ends included. */
export type StatusRange = { from: number; to: number }

/** The query of the log: `from` <= started_at < `to`, newest first. A repeated filter means OR. */
export const listRunsQuery = z.strictObject({
  status: repeatable(oneOf(runStatuses)).optional(),
  task_id: repeatable(id('task')).optional(),
  cronjob_id: repeatable(id('cron')).optional(),
  topic: repeatable(line(200)).optional(),
  source: repeatable(oneOf(taskSources)).optional(),
  response_status: repeatable(statusRange).optional(),
  from: textField(instant).optional(),
  to: textField(instant).optional(),
  ...pageFields,
})

export type ListRunsQuery = z.infer<typeof listRunsQuery>

function statusRange(text: string): { value: StatusRange } | Fault {
  if (/^[1-9]xx$/i.test(text)) return { value: { from: Number(text[0]) * 100, to: Number(text[0]) * 100 + 99 } }
  if (/^[1-9]\d\d$/.test(text)) return { value: { from: Number(text), to: Number(text) } }
  return { code: 'invalid_value', must: 'be a status such as 500 or a class such as 5xx' }
}

/** One dispatch attempt, as lists show it. */
export type Run = {
  id: string
  workspace_id: string
  task_id: string
  task_name: string
  source: TaskSource
  cronjob_id: string | null
  topic: string | null
  /** 1 for the first attempt. */
  attempt: number
  status: RunStatus
  scheduled_at: string
  started_at: string
  finished_at: string
  duration_ms: number
  /** How much later than scheduled it started. */
  lag_ms: number
  url: string
  method: string
  response_status: number | null
  /** The code is one of `runErrorCodes`. */
  error: { code: string; message: string } | null
}

/** One dispatch attempt with all that was sent and received. */
export type RunDetail = Run & {
  request: {
    url: string
    method: string
    headers: Record<string, string>
    body: string | null
    body_truncated: boolean
  }
  response: {
    status: number
    headers: Record<string, string | string[]>
    body: string
    /** Bytes received, of which `body` may hold fewer. */
    body_bytes: number
    body_truncated: boolean
    body_encoding: 'utf8' | 'base64'
  } | null
}
