import { type Backoff, type TaskState, taskStates } from '@belfry/domain'
import { z } from 'zod'
import { headersField, integer, refuse, repeatable, textField } from './fields.ts'
import { pageFields } from './page.ts'
import { retryChange, retryPolicy } from './retry.ts'
import type { RunStatus } from './run.ts'
import { type TaskSource, taskSources } from './task-source.ts'
import { type Fault, id, instant, line, oneOf, targetUrl } from './text-rules.ts'

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export type Method = (typeof methods)[number]

const lastInstant = new Date('2099-12-31T23:59:59.999Z')

// The payload's value is not used: what is stored and sent is its text as it stands in the body.
const fields = {
  name: textField(line(200)),
  url: textField(targetUrl),
  method: z.enum(methods),
  headers: headersField,
  payload: z.unknown(),
  execute_at: textField(
    executeAt,
    'execute_at is required: a task is dispatched at a time. For a dispatch at once, use POST /api/events.',
  ),
  timeout_ms: integer(1_000, 300_000),
}

/** The body that creates a task (spec 2.1). Whether `execute_at` lies in the future is for the database's clock. */
export const createTaskBody = z.strictObject({
  name: fields.name,
  url: fields.url,
  method: fields.method,
  headers: fields.headers.default(() => ({})),
  payload: fields.payload.optional(),
  execute_at: fields.execute_at,
  retry: retryPolicy,
  timeout_ms: fields.timeout_ms.default(30_000),
})

export type CreateTaskBody = z.infer<typeof createTaskBody>

/** The body that changes a pending task: at least one field; those left out stay, also within `retry`. */
export const updateTaskBody = z
  .strictObject({
    name: fields.name.optional(),
    url: fields.url.optional(),
    method: fields.method.optional(),
    headers: fields.headers.optional(),
    payload: fields.payload.optional(),
    execute_at: fields.execute_at.optional(),
    retry: retryChange.optional(),
    timeout_ms: fields.timeout_ms.optional(),
  })
  .superRefine(
    (change, ctx) => {
      const message = `Give at least one field to change: ${Object.keys(fields).join(', ')} or retry.`
      if (Object.keys(change).length === 0) refuse(ctx, change, { code: 'required', message })
    },
    { when: ({ issues }) => issues.length === 0 },
  )

export type UpdateTaskBody = z.infer<typeof updateTaskBody>

/** The query of the list of tasks: `from` <= execute_at < `to`; `name` is a prefix. A repeated filter means OR. */
export const listTasksQuery = z.strictObject({
  state: repeatable(oneOf(taskStates)).optional(),
  source: repeatable(oneOf(taskSources)).optional(),
  cronjob_id: repeatable(id('cron')).optional(),
  name: textField(line(200)).optional(),
  from: textField(instant).optional(),
  to: textField(instant).optional(),
  ...pageFields,
})

export type ListTasksQuery = z.infer<typeof listTasksQuery>

/** The dead letters are the tasks in one state. */
export const listDeadLettersQuery = listTasksQuery.omit({ state: true })

export type ListDeadLettersQuery = z.infer<typeof listDeadLettersQuery>

function executeAt(text: string): { value: Date } | Fault {
  const result = instant(text)
  const isTooLate = 'value' in result && result.value > lastInstant
  return isTooLate ? { code: 'out_of_range', must: 'not lie after the year 2099' } : result
}

/** A task as every answer shows it. */
export type Task = {
  id: string
  workspace_id: string
  name: string
  source: TaskSource
  cronjob_id: string | null
  event_id: string | null
  topic: string | null
  url: string
  method: string
  headers: Record<string, string>
  payload: unknown
  execute_at: string
  state: TaskState
  /** Why it ended without a dispatch: one of `stateReasons`. */
  state_reason: string | null
  /** Attempts started so far. */
  attempts: number
  retry: { max_retries: number; backoff: Backoff; base_delay_ms: number; max_delay_ms: number }
  timeout_ms: number
  /** Set while the state is `retrying`. */
  next_retry_at: string | null
  last_run: LastRun | null
  replay_of: string | null
  created_at: string
  updated_at: string
  finished_at: string | null
}

/** The latest attempt that is over. */
export type LastRun = {
  id: string
  status: RunStatus
  response_status: number | null
  error_code: string | null
  finished_at: string
}
