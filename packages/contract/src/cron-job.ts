import { parseCron } from '@belfry/domain/cron/parse-cron'
import { catchUps, overlaps } from '@belfry/domain/cron/plan-occurrences'
import { z } from 'zod'
import { checkWhen, isReadable } from './compile.ts'
import { connectionNameField } from './connection.ts'
import { changesOf, hostFilter, integer, repeatable, textField } from './fields.ts'
import { lastInstant, tooLate } from './local-time.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { recentRuns } from './overview.ts'
import { pageFields, pageOf } from './page.ts'
import { queueNameField } from './queue.ts'
import { oneBody, refuseTwoBodies } from './raw-body.ts'
import { idField, shownNumber, shownText, timeOrNull, timestampField } from './response-fields.ts'
import { retryChange } from './retry.ts'
import { authorFields, deliveryFields, lastRun, requestFields, sentFields, task } from './task.ts'
import {
  controlFields,
  failingFields,
  label,
  newControlFields,
  objectKeyField,
  shownKeyField,
} from './task-controls.ts'
import { exampleTime, type Invalid, id, instant, line, oneOf, textRule, timeZone } from './text-rules.ts'

const cronJobStatuses = ['active', 'paused', 'ended'] as const

export type CronJobStatus = (typeof cronJobStatuses)[number]

const cronRule = textRule(
  {
    pattern: '^[ \\t]*[A-Za-z0-9*,/#-]+([ \\t]+[A-Za-z0-9*,/#-]+){4}[ \\t]*$',
    maxLength: 1_000,
    description:
      'Five fields: minute, hour, day of month, month, day of week. `L` is the last day of the month, `MON#1` its first Monday, `FRIL` its last Friday.',
    examples: ['0 9 * * 1-5'],
  },
  cronText,
)
const boundRule = textRule({ ...instant.schema }, boundedInstant)
const startRule = textRule({ ...instant.schema, examples: [exampleTime(3_600_000)] }, boundedInstant)
const endRule = textRule({ ...instant.schema, examples: [exampleTime(30 * 86_400_000)] }, boundedInstant)

const schedule = { cron: textField(cronRule), timezone: textField(timeZone).default('UTC') }

const rules = {
  overlap: z.enum(overlaps).default('allow'),
  catch_up: z.enum(catchUps).default('latest'),
  starts_at: textField(startRule).nullable().default(null),
  ends_at: textField(endRule).nullable().default(null),
  ...newControlFields,
}

/** The default rules about the occurrences of a cron job. */
export const defaultRules = z.object(rules).parse({})

const creation = {
  key: objectKeyField.optional(),
  ...requestFields,
  ...schedule,
  ...deliveryFields,
  ...rules,
}

/** The body that creates a cron job. The API checks separately that it fires, because that depends on the current time. */
export const createCronJobBody = z.strictObject(creation).check(checkWhen(isReadable, refuseTwoBodies)).meta(oneBody)

export type CreateCronJobBody = z.infer<typeof createCronJobBody>

/** The body that changes a cron job. Omitted fields stay unchanged; null removes a bound. */
export const updateCronJobBody = z
  .strictObject({ ...changesOf(creation), key: objectKeyField.nullable().optional(), retry: retryChange.optional() })
  .check(checkWhen(isReadable, refuseTwoBodies))
  .meta(oneBody)

export type UpdateCronJobBody = z.infer<typeof updateCronJobBody>

/** The query of the list of cron jobs; `name` is a prefix. A repeated filter means OR. */
export const listCronJobsQuery = z.strictObject({
  status: repeatable(oneOf(cronJobStatuses)).optional(),
  label: repeatable(label).optional(),
  name: textField(line(200)).optional(),
  host: hostFilter.optional(),
  ...pageFields,
})

export type ListCronJobsQuery = z.infer<typeof listCronJobsQuery>

/** The body that asks for the next runs of an expression, strictly after `from` (default: now). */
export const previewCronJobBody = z.strictObject({
  ...schedule,
  from: textField(boundRule).optional(),
  count: integer(1, 50).default(5),
})

/** The body that asks for the occurrences of a past time: `from` <= occurrence < `to`. */
const backfillCronJobBody = z.strictObject({
  from: textField(backfillRule('The time from which on occurrences run.', '2026-01-01T00:00:00Z')),
  to: textField(backfillRule('The time before which occurrences run; not in the future.', '2026-01-01T06:00:00Z')),
  per_second: integer(1, 1_000)
    .optional()
    .meta({
      description: 'How many of the tasks are due per second, the first at once. Default: all are due at once.',
      examples: [10],
    }),
})

function backfillRule(description: string, example: string) {
  return textRule({ ...instant.schema, description, examples: [example] }, instant)
}

const backfill = namedObject('Backfill', {
  created: shownNumber('The tasks that this request created.', 24),
  skipped: shownNumber('Occurrences of the time that have a task already.', 0),
})

export function cronText(text: string): { value: string } | Invalid {
  const parsed = parseCron(text)
  return parsed.ok ? { value: parsed.cron.text } : { code: 'invalid_cron', message: parsed.message }
}

function boundedInstant(text: string): { value: Date } | Invalid {
  const result = instant(text)
  return 'value' in result && result.value > lastInstant ? tooLate : result
}

const runTimeNote = namedObject('RunTimeNote', {
  at: timestampField().meta({ description: 'When the run starts.' }),
  local: shownText(
    'The scheduled local time, which did not exist (gap) or occurred twice (overlap).',
    '2027-03-28T02:30',
  ),
  code: z.enum(['clock_gap', 'clock_overlap']),
})

export type RunTimeNote = z.infer<typeof runTimeNote>

const runTimeFields = {
  next_runs: z.array(timestampField()).meta({ description: 'The next runs.' }),
  notes: z.array(runTimeNote).meta({ description: 'The runs that a clock change affects.', examples: [[]] }),
}

const description = shownText('The schedule in English.', 'At 09:00 on every weekday from Monday to Friday')

export const cronJob = namedObject('CronJob', {
  id: idField('cron'),
  workspace_id: idField('ws'),
  key: shownKeyField,
  name: z.string().meta({ examples: ['Daily report'] }),
  cron: z.string().meta({ examples: ['0 9 * * 1-5'] }),
  timezone: z.string().meta({ examples: ['Europe/Berlin'] }),
  description,
  ...sentFields,
  queue: queueNameField,
  connection: connectionNameField,
  overlap: z.enum(overlaps),
  catch_up: z.enum(catchUps),
  starts_at: timeOrNull('No run starts earlier; null: no bound.'),
  ends_at: timeOrNull('No run starts at this time or later.'),
  ...controlFields,
  status: z.enum(cronJobStatuses).meta({ description: '`ended` from `ends_at` on.' }),
  ...failingFields,
  next_run_at: timeOrNull('The first of `next_runs`; null when paused, or when no run is left.'),
  ...runTimeFields,
  last_run: lastRun.nullable(),
  ...authorFields,
  created_at: timestampField(),
  updated_at: timestampField(),
})

export type CronJob = z.infer<typeof cronJob>

export const cronJobsOperations = {
  listCronJobs: operation('GET', '/api/v1/scheduler/cronjobs', {
    right: 'cron_job.read',
    summary: 'List cron jobs, newest first',
    client: 'cronJobs.list',
    mayLag: true,
    query: listCronJobsQuery,
    response: { status: 200, body: pageOf(cronJob) },
  }),

  createCronJob: operation('POST', '/api/v1/scheduler/cronjobs', {
    right: 'cron_job.write',
    summary: 'Create a cron job',
    description: 'It is stored when the response arrives.',
    client: 'cronJobs.create',
    body: createCronJobBody,
    response: { status: 201, body: cronJob },
    errors: ['quota_exceeded', 'key_in_use', 'conflict'],
    isIdempotent: true,
  }),

  previewCronJob: operation('POST', '/api/v1/scheduler/cronjobs/preview', {
    right: 'cron_job.read',
    summary: 'Preview when a cron expression fires',
    client: 'cronJobs.preview',
    body: previewCronJobBody,
    response: { status: 200, body: namedObject('CronPreview', { description, ...runTimeFields }) },
  }),

  listRecentRuns: operation('GET', '/api/v1/scheduler/cronjobs/recent-runs', {
    right: 'run.read',
    summary: 'Get the latest runs of several cron jobs at once, oldest first',
    mayLag: true,
    query: z.strictObject({ cronjob_id: repeatable(id('cron')).default([]) }),
    response: { status: 200, body: recentRuns },
  }),

  getCronJob: operation('GET', '/api/v1/scheduler/cronjobs/:cronjob', {
    right: 'cron_job.read',
    summary: 'Read a cron job',
    description: 'The response has its next five runs.',
    client: 'cronJobs.get',
    response: { status: 200, body: cronJob },
  }),

  updateCronJob: operation('PATCH', '/api/v1/scheduler/cronjobs/:cronjob', {
    right: 'cron_job.write',
    summary: 'Change a cron job',
    description: 'A new `cron` or `timezone` replaces the runs that have not started.',
    client: 'cronJobs.update',
    body: updateCronJobBody,
    response: { status: 200, body: cronJob },
    errors: ['quota_exceeded', 'key_in_use', 'conflict'],
  }),

  deleteCronJob: operation('DELETE', '/api/v1/scheduler/cronjobs/:cronjob', {
    right: 'cron_job.delete',
    summary: 'Delete a cron job and cancel its tasks that have not started',
    client: 'cronJobs.delete',
  }),

  pauseCronJob: operation('POST', '/api/v1/scheduler/cronjobs/:cronjob/pause', {
    right: 'cron_job.write',
    summary: 'Pause a cron job',
    description: 'No run starts after the response.',
    client: 'cronJobs.pause',
    response: { status: 200, body: cronJob },
  }),

  resumeCronJob: operation('POST', '/api/v1/scheduler/cronjobs/:cronjob/resume', {
    right: 'cron_job.write',
    summary: 'Resume a cron job from now on',
    description: 'Runs missed during the pause are skipped.',
    client: 'cronJobs.resume',
    response: { status: 200, body: cronJob },
  }),

  triggerCronJob: operation('POST', '/api/v1/scheduler/cronjobs/:cronjob/trigger', {
    right: 'cron_job.write',
    summary: 'Dispatch a cron job at once',
    client: 'cronJobs.trigger',
    response: { status: 201, body: task },
    errors: ['quota_exceeded', 'loop_detected'],
  }),

  backfillCronJob: operation('POST', '/api/v1/scheduler/cronjobs/:cronjob/backfill', {
    right: 'cron_job.write',
    summary: 'Run a cron job for a past time: one task for each of at most 1,000 occurrences',
    description:
      'Skips occurrences that have a task which was not cancelled, so a repeated request creates nothing. Each task has the time of its occurrence as `execute_at`, and is due now.',
    client: 'cronJobs.backfill',
    body: backfillCronJobBody,
    response: { status: 200, body: backfill },
    errors: ['quota_exceeded', 'loop_detected'],
  }),
}
