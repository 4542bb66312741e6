import { catchUps, isTimeZone, overlaps, parseCron } from '@belfry/domain'
import { z } from 'zod'
import { idField, timestampField } from './answer-fields.ts'
import { integer, repeatable, textField } from './fields.ts'
import { pageFields } from './page.ts'
import { retryChange, retryPolicy } from './retry.ts'
import { createTaskBody, lastRun, sentFields } from './task.ts'
import { exampleTime, type Fault, instant, line, oneOf, textRule } from './text-rules.ts'

export const cronJobStatuses = ['active', 'paused', 'ended'] as const

export type CronJobStatus = (typeof cronJobStatuses)[number]

const lastInstant = new Date('2099-12-31T23:59:59.999Z')
const previewCounts = { least: 1, most: 50, default: 5 }
const taskBody = createTaskBody.shape

const cronRule = textRule(
  {
    pattern: '^[ \\t]*[A-Za-z0-9*,/-]+([ \\t]+[A-Za-z0-9*,/-]+){4}[ \\t]*$',
    maxLength: 1_000,
    description: 'Five fields: minute, hour, day of month, month, day of week.',
    examples: ['0 9 * * 1-5'],
  },
  cronText,
)
const zoneRule = textRule(
  { description: 'A time zone of the IANA database. Default: UTC.', examples: ['Europe/Berlin'] },
  timeZone,
)
const boundRule = textRule({ ...instant.schema }, boundedInstant)
const startRule = textRule({ ...instant.schema, examples: [exampleTime(3_600_000)] }, boundedInstant)
const endRule = textRule({ ...instant.schema, examples: [exampleTime(30 * 86_400_000)] }, boundedInstant)

// What is sent has the rules of a task.
const fields = {
  name: taskBody.name,
  url: taskBody.url,
  method: taskBody.method,
  cron: textField(cronRule),
  timezone: textField(zoneRule),
  headers: taskBody.headers.unwrap(),
  payload: taskBody.payload.unwrap(),
  overlap: z.enum(overlaps),
  catch_up: z.enum(catchUps),
  starts_at: textField(startRule).nullable(),
  ends_at: textField(endRule).nullable(),
  timeout_ms: taskBody.timeout_ms.unwrap(),
}

/** The body that creates a cron job (spec 2.2). Whether it ever fires depends on the time, so it is asked elsewhere. */
export const createCronJobBody = z.strictObject({
  name: fields.name,
  url: fields.url,
  method: fields.method,
  cron: fields.cron,
  timezone: fields.timezone.default('UTC'),
  headers: taskBody.headers,
  payload: fields.payload.optional(),
  retry: retryPolicy,
  timeout_ms: taskBody.timeout_ms,
  overlap: fields.overlap.default('allow'),
  catch_up: fields.catch_up.default('latest'),
  starts_at: fields.starts_at.default(null),
  ends_at: fields.ends_at.default(null),
})

export type CreateCronJobBody = z.infer<typeof createCronJobBody>

/** The body that changes a cron job; fields that are left out stay, null takes a bound away. */
export const updateCronJobBody = z.strictObject({
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
  from: textField(boundRule).optional(),
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

/** `local` is the time that was asked for on the zone's clock: it did not exist (gap) or came twice (overlap). */
export const runTimeNote = z
  .object({
    at: timestampField(),
    local: z.string().meta({
      description:
        'The time that was asked for on the clock of the zone: it did not exist (gap) or came twice (overlap).',
      examples: ['2027-03-28T02:30'],
    }),
    code: z.enum(['clock_gap', 'clock_overlap']),
  })
  .meta({ id: 'RunTimeNote' })

export type RunTimeNote = z.infer<typeof runTimeNote>

const runTimeFields = {
  next_runs: z.array(timestampField()),
  notes: z.array(runTimeNote).meta({ description: 'Which of them a change of the clocks has moved.', examples: [[]] }),
}

const description = z.string().meta({
  description: 'In English, when it fires.',
  examples: ['At 09:00 on every weekday from Monday to Friday'],
})

/** The times at which something fires, and which of them a change of the clocks has moved. */
export type RunTimes = { next_runs: string[]; notes: RunTimeNote[] }

export const cronPreview = z.object({ description, ...runTimeFields }).meta({ id: 'CronPreview' })

export type CronPreview = z.infer<typeof cronPreview>

/** A cron job as every answer shows it. */
export const cronJob = z
  .object({
    id: idField('cron'),
    workspace_id: idField('ws'),
    name: z.string().meta({ examples: ['Daily report'] }),
    cron: z.string().meta({ examples: ['0 9 * * 1-5'] }),
    timezone: z.string().meta({ examples: ['Europe/Berlin'] }),
    description,
    ...sentFields,
    overlap: z.enum(overlaps),
    catch_up: z.enum(catchUps),
    starts_at: timestampField().nullable(),
    ends_at: timestampField().nullable().meta({ description: 'No run at this instant or later.' }),
    status: z.enum(cronJobStatuses),
    next_run_at: timestampField()
      .nullable()
      .meta({ description: 'The first of `next_runs`; null while paused or ended.' }),
    ...runTimeFields,
    last_run: lastRun.nullable(),
    created_at: timestampField(),
    updated_at: timestampField(),
  })
  .meta({ id: 'CronJob' })

export type CronJob = z.infer<typeof cronJob>
