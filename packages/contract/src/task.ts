import { taskSources } from '@belfry/domain/task-source'
import { stateReasons, taskStates } from '@belfry/domain/task-state'
import { timeoutLimits } from '@belfry/domain/timeout'
import { z } from 'zod'
import { callbackFields, shownCallbacks } from './callback.ts'
import { checkWhen, isReadable } from './compile.ts'
import { connectionField, connectionNameField } from './connection.ts'
import { changesOf, flag, headersField, hostFilter, integer, payloadField, repeatable, textField } from './fields.ts'
import { blocked } from './host.ts'
import { lastInstant, localTime, resolveLocalTimes, timezoneField, tooLate } from './local-time.ts'
import { namedObject } from './objects.ts'
import { pageFields, timeRange } from './page.ts'
import { queueField, queueNameField } from './queue.ts'
import { oneBody, rawBodyFields, refuseTwoBodies, shownRawBody } from './raw-body.ts'
import {
  authorField,
  idField,
  millisecondsField,
  orNull,
  shownNumber,
  shownText,
  shownTexts,
  textOrNull,
  timeOrNull,
  timestampField,
} from './response-fields.ts'
import { retry, retryChange, retryPolicy } from './retry.ts'
import { lastStatusFilter, runErrorCodes, runStatusField } from './run.ts'
import { keyField, label, labelsField, newLabelsField, onConflictField, onPastField } from './task-controls.ts'
import {
  displayName,
  exampleTime,
  type Invalid,
  id,
  instant,
  line,
  oneOf,
  targetUrl,
  textRule,
  topic,
} from './text-rules.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const executeAtRule = timeRule(
  3_600_000,
  'In the future by the server’s clock, and not after the year 2099; with an offset, or in `timezone`.',
)

const expiresAtRule = timeRule(
  7_200_000,
  'Later than execute_at, and not after the year 2099; with an offset, or in `timezone`. No attempt starts then or later.',
)

function timeRule(exampleMs: number, description: string) {
  return textRule({ ...instant.schema, examples: [exampleTime(exampleMs)], description }, executeAt)
}

/** The request of a task or a cron job. */
export const requestFields = {
  name: textField(displayName),
  url: textField(targetUrl),
  method: z.enum(methods),
  headers: headersField.default(() => ({})),
  payload: payloadField.optional(),
  ...rawBodyFields,
}

/** How a request is made. Subscriptions and events have these fields too. */
export const deliveryFields = {
  retry: retryPolicy,
  timeout_ms: integer(timeoutLimits.min, timeoutLimits.max).default(timeoutLimits.default),
  queue: queueField.nullable().optional(),
  connection: connectionField.optional(),
  ...callbackFields,
}

const creation = {
  ...requestFields,
  execute_at: textField(executeAtRule, 'execute_at is required. To dispatch at once, use POST /api/events.'),
  timezone: timezoneField.optional(),
  ...deliveryFields,
  expires_at: textField(expiresAtRule).nullable().optional(),
}

/** The body that creates a task. The API checks `execute_at` against the database's clock. */
export const createTaskBody = z
  .strictObject({
    ...creation,
    key: keyField.optional(),
    on_conflict: onConflictField.optional(),
    on_past: onPastField.optional(),
    labels: newLabelsField.optional(),
  })
  .check(checkWhen(isReadable, refuseTwoBodies), checkWhen(isReadable, resolveLocalTimes))
  .meta(oneBody)

export type CreateTaskBody = z.infer<typeof createTaskBody>

/** The body that changes a pending task. Omitted fields stay unchanged, also within `retry`. */
export const updateTaskBody = z
  .strictObject({ ...changesOf(creation), retry: retryChange.optional(), labels: labelsField.optional() })
  .check(checkWhen(isReadable, refuseTwoBodies), checkWhen(isReadable, resolveLocalTimes))
  .meta(oneBody)

export type UpdateTaskBody = z.infer<typeof updateTaskBody>

/** The query of the list of tasks: `from` <= execute_at < `to`; `name` is a prefix. A repeated filter means OR. */
export const listTasksQuery = z.strictObject({
  state: repeatable(oneOf(taskStates)).optional(),
  state_reason: repeatable(oneOf(stateReasons)).optional(),
  source: repeatable(oneOf(taskSources)).optional(),
  cronjob_id: repeatable(id('cron')).optional(),
  event_id: repeatable(id('evt')).optional(),
  callback_of: repeatable(id('task')).optional(),
  topic: repeatable(topic).optional(),
  queue: repeatable(line(128)).optional(),
  label: repeatable(label).optional(),
  name: textField(line(200)).optional(),
  host: hostFilter.optional(),
  ...timeRange,
  upcoming: flag.optional(),
  ...pageFields,
})

export type ListTasksQuery = z.infer<typeof listTasksQuery>

/** The query of the list of dead letters: tasks in the state `dead`. `error` and `response_status` are from the last run. */
export const listDeadLettersQuery = listTasksQuery.omit({ state: true, upcoming: true }).extend({
  error: repeatable(oneOf(runErrorCodes)).optional(),
  response_status: lastStatusFilter.optional(),
})

function executeAt(text: string): { value: Date } | Invalid {
  const result = instant(text)
  if (!('value' in result)) return localTime(text) ?? result
  return result.value > lastInstant ? tooLate : result
}

export const lastRun = namedObject('LastRun', {
  id: idField('run'),
  status: runStatusField,
  response_status: orNull(z.int(), { examples: [200] }),
  error_code: orNull(z.enum(runErrorCodes), { examples: [null] }),
  finished_at: timestampField().meta({ description: 'When the attempt ended.' }),
})

/** The request of a task or cron job, in a response. */
export const sentFields = {
  url: z.string().meta({ examples: ['https://example.com/hooks/reminder'] }),
  method: z.string().meta({ enum: methods, examples: ['POST'] }),
  headers: z.record(z.string(), z.string()).meta({ examples: [{ 'X-Source': 'belfry' }] }),
  payload: z.unknown().meta({ description: 'Any JSON value, unchanged.', examples: [{ user: 42 }] }),
  ...shownRawBody,
  retry,
  timeout_ms: millisecondsField(timeoutLimits.default),
  ...shownCallbacks,
}

/** Who created a task or a cron job, and who changed it last. */
export const authorFields = {
  created_by: authorField('The user or the API key that created it. Null: Belfry, or before this was recorded.'),
  updated_by: authorField('The user or the API key that changed it last.'),
}

export const task = namedObject('Task', {
  id: idField('task'),
  workspace_id: idField('ws'),
  name: z.string().meta({ examples: ['Trial reminder'] }),
  source: z.enum(taskSources).meta({ description: 'The origin of the task.' }),
  cronjob_id: idField('cron').nullable(),
  event_id: idField('evt').nullable(),
  topic: orNull(z.string(), { examples: [null] }),
  ...sentFields,
  queue: queueNameField,
  connection: connectionNameField,
  execute_at: timestampField().meta({ description: 'The time of the first attempt.' }),
  local_time: shownText(
    'The time in `timezone`, with its offset. Only in the answer to a request with a timezone.',
    '2026-11-21T03:20:00.000+01:00',
  ).optional(),
  timezone: shownText('The zone of the request.', 'Europe/Berlin').optional(),
  state: z
    .enum(taskStates)
    .meta({ description: 'Where the task is: waiting, in progress, or ended with this outcome.' }),
  state_reason: orNull(z.enum(stateReasons), {
    description: 'Why it ended without the outcome of an attempt.',
    examples: [null],
  }),
  attempts: shownNumber('Attempts started so far.', 0),
  blocked: blocked.nullable().meta({
    description: 'Why the task waits although it is due. Null in lists of dead letters and after a change.',
  }),
  expires_at: timeOrNull('No attempt starts at this time or later.'),
  key: textOrNull('Unique among the pending tasks of the workspace.'),
  labels: shownTexts('The labels of the task.', ['customer:42']),
  next_retry_at: timeOrNull('Set while the state is `retrying`.'),
  last_run: lastRun.nullable(),
  callback_of: orNull(idField('task'), { description: 'The task whose outcome this callback reports.' }),
  replay_of: orNull(idField('task'), { description: 'The task that this one replays; null for other tasks.' }),
  ...authorFields,
  created_at: timestampField(),
  updated_at: timestampField(),
  finished_at: timestampField().nullable(),
})

export type Task = z.infer<typeof task>

/** What a caller without the right `task.read` sees of a task. */
export const taskBrief = task.pick({ id: true, state: true, created_at: true }).meta({ id: 'TaskBrief' })
