import { catchUps, isTimeZone, overlaps, parseCron } from '@belfry/domain'
import { z } from 'zod'
import { integer, refuse, repeatable, textField } from './fields.ts'
import { pageFields } from './page.ts'
import { retryChange, retryPolicy } from './retry.ts'
import { createTaskBody, type LastRun, type Task } from './task.ts'
import { type Fault, instant, line, oneOf } from './text-rules.ts'

export const cronJobStatuses = ['active', 'paused', 'ended'] as const

export type CronJobStatus = (typeof cronJobStatuses)[number]

const lastInstant = new Date('2099-12-31T23:59:59.999Z')
const previewCounts = { least: 1, most: 50, default: 5 }
const task = createTaskBody.shape

// What is sent has the rules of a task; the payload is likewise taken from the body's text.
const fields = {
  name: task.name,
  url: task.url,
  method: task.method,
  cron: textField(cronText),
  timezone: textField(timeZone),
  headers: task.headers.unwrap(),
  payload: z.unknown(),
  overlap: z.enum(overlaps),
  catch_up: z.enum(catchUps),
  starts_at: textField(boundedInstant).nullable(),
  ends_at: textField(boundedInstant).nullable(),
  timeout_ms: task.timeout_ms.unwrap(),
}

/** The body that creates a cron job (spec 2.2). Whether it ever fires depends on the time, so it is asked elsewhere. */
export const createCronJobBody = z.strictObject({
  name: fields.name,
  url: fields.url,
  method: fields.method,
  cron: fields.cron,
  timezone: fields.timezone.default('UTC'),
  headers: task.headers,
  payload: fields.payload.optional(),
  retry: retryPolicy,
  timeout_ms: task.timeout_ms,
  overlap: fields.overlap.default('allow'),
  catch_up: fields.catch_up.default('latest'),
  starts_at: fields.starts_at.default(null),
  ends_at: fields.ends_at.default(null),
})

export type CreateCronJobBody = z.infer<typeof createCronJobBody>

/** The body that changes a cron job: at least one field; those left out stay, null takes a bound away. */
export const updateCronJobBody = z
  .strictObject({
    name: fields.name.optional(),
    url: fields.url.optional(),
    method: fields.method.optional(),
    cron: fields.cron.optional(),
    timezone: fields.timezone.optional(),
    headers: fields.headers.optional(),
    payload: fields.payload.optional(),
    retry: retryChange.optional(),
    timeout_ms: fields.timeout_ms.optional(),
    overlap: fields.overlap.optional(),
    catch_up: fields.catch_up.optional(),
    starts_at: fields.starts_at.optional(),
    ends_at: fields.ends_at.optional(),
  })
  .superRefine(
    (change, ctx) => {
      const message = `Give at least one field to change: ${Object.keys(fields).join(', ')} or retry.`
      if (Object.keys(change).length === 0) refuse(ctx, change, { code: 'required', message })
    },
    { when: ({ issues }) => issues.length === 0 },
  )

export type UpdateCronJobBody = z.infer<typeof updateCronJobBody>

/** The query of the list of cron jobs; `name` is a prefix. A repeated filter means OR. */
export const listCronJobsQuery = z.strictObject({
  status: repeatable(oneOf(cronJobStatuses)).optional(),
  name: textField(line(200)).optional(),
  ...pageFields,
})

export type ListCronJobsQuery = z.infer<typeof listCronJobsQuery>

/** The body that asks when an expression would fire, strictly after `from` (default: now). */
export const previewCronJobBody = z.strictObject({
  cron: fields.cron,
  timezone: fields.timezone.default('UTC'),
  from: textField(boundedInstant).optional(),
  count: integer(previewCounts.least, previewCounts.most).default(previewCounts.default),
})

export type PreviewCronJobBody = z.infer<typeof previewCronJobBody>

function cronText(text: string): { value: string } | Fault {
  const parsed = parseCron(text)
  return parsed.ok ? { value: parsed.cron.text } : { code: 'invalid_cron', message: parsed.message }
}

function timeZone(text: string): { value: string } | Fault {
  if (isTimeZone(text)) return { value: text }
  return { code: 'unknown_timezone', must: 'be a time zone of the IANA database, such as UTC or Europe/Berlin' }
}

function boundedInstant(text: string): { value: Date } | Fault {
  const result = instant(text)
  const isTooLate = 'value' in result && result.value > lastInstant
  return isTooLate ? { code: 'out_of_range', must: 'not lie after the year 2099' } : result
}

/** The times at which something fires, and which of them a change of the clocks has moved. */
export type RunTimes = { next_runs: string[]; notes: RunTimeNote[] }

/** `local` is the time that was asked for on the zone's clock: it did not exist (gap) or came twice (overlap). */
export type RunTimeNote = { at: string; local: string; code: 'clock_gap' | 'clock_overlap' }

export type CronPreview = RunTimes & { description: string }

/** A cron job as every answer shows it. */
export type CronJob = RunTimes &
  Pick<Task, 'id' | 'workspace_id' | 'name' | 'url' | 'method' | 'headers' | 'payload' | 'retry' | 'timeout_ms'> & {
    cron: string
    timezone: string
    /** In English, when it fires. */
    description: string
    overlap: (typeof overlaps)[number]
    catch_up: (typeof catchUps)[number]
    starts_at: string | null
    /** No run at this instant or later. */
    ends_at: string | null
    status: CronJobStatus
    /** The first of `next_runs`; null while paused or ended. */
    next_run_at: string | null
    last_run: LastRun | null
    created_at: string
    updated_at: string
  }
