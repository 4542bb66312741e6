import { parseStatusRange, type StatusRange } from '@belfry/domain/run-filter'
import { taskSources } from '@belfry/domain/task-source'
import { waitReasons } from '@belfry/domain/wait-reason'
import { z } from 'zod'
import { runErrors } from './explained-codes.ts'
import { exportFormat, exportTypes } from './export.ts'
import { hostFilter, integer, repeatable, textField } from './fields.ts'
import { listOf, namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { pageFields, pageOf, timeRange } from './page.ts'
import {
  idField,
  millisecondsField,
  numberOrNull,
  orNull,
  shownFlag,
  shownNumber,
  shownText,
  shownTexts,
  textOrNull,
  timestampField,
} from './response-fields.ts'
import { label } from './task-controls.ts'
import { type Invalid, id, line, oneOf, textRule, wholeNumber } from './text-rules.ts'

const runStatuses = ['success', 'failed'] as const

export const runStatusField = z.enum(runStatuses).meta({ description: 'Whether the attempt succeeded.' })

export type RunErrorCode = keyof typeof runErrors

export const runErrorCodes = Object.keys(runErrors) as RunErrorCode[]

const statusRangeSchema = {
  pattern: '^[1-9]([0-9]{2}|[xX]{2})$',
  description: 'A status, or a class of statuses such as `5xx`.',
  examples: ['5xx'],
}

/** A filter by the response statuses of last runs, as texts. */
export const lastStatusFilter = repeatable(
  textRule(statusRangeSchema, text => {
    const range = statusRange(text)
    return 'value' in range ? { value: text.toLowerCase() } : range
  }),
)

const lateRule = wholeNumber(0, 2_147_483_647, {
  description: 'Only runs that started at least this late, in milliseconds: by their `lag_ms`.',
})

const filters = {
  cronjob_id: repeatable(id('cron')).optional(),
  topic: repeatable(line(200)).optional(),
  source: repeatable(oneOf(taskSources)).optional(),
  response_status: repeatable(textRule(statusRangeSchema, statusRange)).optional(),
  error: repeatable(oneOf(runErrorCodes)).optional(),
  host: repeatable(line(300)).optional(),
}

/**
 * The query of the activity log: `from` <= started_at < `to`, newest first. `name` is a prefix. A repeated filter means OR.
 * A filter with `not_` leaves out the runs that match any of its values.
 */
export const listRunsQuery = z.strictObject({
  status: repeatable(oneOf(runStatuses)).optional(),
  task_id: repeatable(id('task')).optional(),
  label: repeatable(label).optional(),
  ...filters,
  name: textField(line(200)).optional(),
  late_ms: textField(lateRule).optional(),
  not_cronjob_id: filters.cronjob_id,
  not_topic: filters.topic,
  not_source: filters.source,
  not_response_status: filters.response_status,
  not_error: filters.error,
  not_host: filters.host,
  not_name: repeatable(line(200)).optional(),
  ...timeRange,
  ...pageFields,
})

export type ListRunsQuery = z.infer<typeof listRunsQuery>

export const listOrganizationRunsQuery = listRunsQuery.extend({ workspace_id: repeatable(id('ws')).optional() })

function statusRange(text: string): { value: StatusRange } | Invalid {
  const value = parseStatusRange(text)
  return value ? { value } : { code: 'invalid_value', must: 'be a status such as 500 or a class such as 5xx' }
}

const runTimings = z.object({
  dns_ms: numberOrNull('The DNS lookup; 0 for an address, and for a name looked up within the last 5 s.', 4),
  connect_ms: numberOrNull('The TCP connect, or the tunnel through an egress proxy.', 11),
  tls_ms: numberOrNull('The TLS handshake; null for `http`.', 25),
  first_byte_ms: numberOrNull('From the first byte of the request to the first byte of the response.', 42),
})

const runFields = {
  id: idField('run'),
  workspace_id: idField('ws'),
  task_id: idField('task'),
  task_name: z.string().meta({ examples: ['Trial reminder'] }),
  source: z.enum(taskSources),
  cronjob_id: idField('cron').nullable(),
  cronjob_timezone: textOrNull(
    'The time zone of the cron job: the present one, or that of the day when the run moved to object storage. Null when the cron job has gone, and for other tasks.',
  ),
  topic: orNull(z.string(), { examples: [null] }),
  labels: shownTexts('The labels of the task.', ['customer:42']),
  attempt: shownNumber('1 for the first attempt.', 1),
  status: runStatusField,
  scheduled_at: timestampField(),
  started_at: timestampField(),
  finished_at: timestampField().meta({ description: 'When the attempt ended.' }),
  duration_ms: millisecondsField(84),
  lag_ms: shownNumber('The delay between the scheduled time and the start.', 3),
  waited_for: orNull(z.enum(waitReasons), {
    description:
      'What a late start waited for, for most of the time. Null when the start was less than a second late, or when the reason is not known.',
    examples: [null],
  }),
  timings: runTimings.nullable().meta({
    description:
      'How long the steps of the call took, in milliseconds. A step is null when the call had none or did not complete it; a kept-alive connection has only `first_byte_ms`. Null when the DNS lookup did not end, when nothing was sent, when the dispatcher was lost, or when the call was repeated with a new access token.',
  }),
  url: z.string().meta({ examples: ['https://example.com/hooks/reminder'] }),
  method: z.string().meta({ examples: ['POST'] }),
  response_status: orNull(z.int(), { examples: [200] }),
  error: orNull(
    z.object({
      code: z.enum(runErrorCodes).meta({ examples: ['timeout'] }),
      message: z.string().meta({ examples: ['The target did not answer within 30000 ms.'] }),
    }),
    { description: 'Why the attempt failed; null when it succeeded.', examples: [null] },
  ),
  note: textOrNull(
    'What was odd about a success, such as headers that could not be read. Null for a failure, whose `error` says it.',
  ),
}

const run = namedObject('Run', runFields)

export type Run = z.infer<typeof run>

const runDetail = namedObject('RunDetail', {
  ...runFields,
  request: z.object({
    url: runFields.url,
    method: runFields.method,
    headers: z.record(z.string(), z.string()).meta({ examples: [{ 'content-type': 'application/json' }] }),
    body: orNull(z.string(), { examples: ['{"user":42}'] }),
    body_encoding: z.enum(['utf8', 'base64']),
    body_truncated: z.literal(false).meta({ description: 'The request is stored completely.' }),
  }),
  response: orNull(
    z.object({
      status: z.int().meta({ examples: [200], description: 'The HTTP status.' }),
      headers: z
        .record(z.string(), z.union([z.string(), z.array(z.string())]))
        .meta({ examples: [{ 'content-type': 'text/plain' }] }),
      body: shownText('Decoded by the charset of its Content-Type, and decompressed up to 64 KiB.', 'ok'),
      body_bytes: shownNumber('Bytes received; `body` may be shorter.', 2),
      body_truncated: z.boolean(),
      body_encoding: z.enum(['utf8', 'base64']),
    }),
    { description: 'Null when there was no response.' },
  ),
})

export type RunDetail = z.infer<typeof runDetail>

const runPage = pageOf(run).extend({
  from_storage: shownFlag('Whether Belfry read object storage for this page, which is slower.', false),
})

export type RunPage = z.infer<typeof runPage>

export const counted = {
  total: shownNumber('Attempts that started.', 1200),
  failed: z.int().meta({ examples: [3] }),
}

/** The attempts of a workspace over a time. A run is included a few seconds after it was recorded. */
const runCounts = namedObject('RunCounts', {
  from: timestampField().meta({ description: 'The start of the first bucket, at most 32 days ago.' }),
  to: timestampField().meta({ description: 'The end of the last bucket.' }),
  bucket_ms: millisecondsField(1_800_000),
  buckets: listOf({ at: timestampField(), ...counted }).meta({ description: 'At most 61 buckets.' }),
})

/** What users have decided about a group of failures. */
const failureStates = ['open', 'ignored', 'resolved'] as const

const failureGroup = namedObject('FailureGroup', {
  host: z.string().meta({ examples: ['example.com'] }),
  error_code: z.string().meta({ examples: ['http_status'], description: 'Why the runs failed.' }),
  response_status: orNull(z.int(), { examples: [503] }),
  error_message: shownText('The message of the latest run.', 'HTTP status 503'),
  cause: textOrNull(
    'The first 120 characters of the response of the latest run, without markup; null when it had no text.',
    'remaining connection slots are reserved',
  ),
  count: z.int().meta({ examples: [712], description: 'The number of failed runs.' }),
  state: z.enum(failureStates).meta({
    description: 'Whether users have ignored or resolved it. A run after the resolution opens it again.',
  }),
  first_at: timestampField().meta({ description: 'When the first of them started.' }),
  last_at: timestampField().meta({ description: 'When the latest of them started.' }),
  last_run_id: idField('run').meta({ description: 'The latest run, as an example.' }),
  task_name: shownText('The name of its task.', 'Trial reminder'),
})

const runFailures = namedObject('RunFailures', {
  data: z.array(failureGroup).meta({ description: 'The groups with the most runs first; at most 50.' }),
  counted: shownNumber('The number of runs that the groups were made from.', 712),
  is_partial: shownFlag(
    'There may be more failed runs: the groups are made from the latest ones, without those in object storage.',
    false,
  ),
})

export type RunFailures = z.infer<typeof runFailures>

export const exportRunsQuery = listRunsQuery.omit({ limit: true, cursor: true }).extend(exportFormat)

export const runsOperations = {
  listRuns: operation('GET', '/api/v1/scheduler/runs', {
    right: 'run.read',
    summary: 'List runs, newest first',
    client: 'runs.list',
    mayLag: true,
    query: listRunsQuery,
    response: { status: 200, body: runPage },
    errors: ['log_storage_unavailable'],
  }),

  exportRuns: operation('GET', '/api/v1/scheduler/runs/export', {
    right: 'run.read',
    summary: 'Export runs as CSV or JSON Lines, newest first',
    description: 'The file may have any size.',
    client: 'runs.export',
    mayLag: true,
    query: exportRunsQuery,
    response: { status: 200, texts: exportTypes },
  }),

  streamRuns: operation('GET', '/api/v1/scheduler/runs/stream', {
    right: 'run.read',
    summary: 'Follow new runs as server-sent events',
    description: 'A run is sent about a second after its end.',
    client: 'runs.tail',
    response: { status: 200, texts: ['text/event-stream'] },
  }),

  listFailures: operation('GET', '/api/v1/scheduler/runs/failures', {
    right: 'run.read',
    summary: 'Group failed runs by host, error and response status',
    client: 'runs.failures',
    mayLag: true,
    query: z.strictObject({ ...timeRange, host: hostFilter.optional() }),
    response: { status: 200, body: runFailures },
  }),

  setFailureState: operation('PUT', '/api/v1/scheduler/runs/failures', {
    right: 'host.write',
    summary: 'Ignore or resolve a group of failed runs, or open it again',
    body: z.strictObject({
      host: textField(line(300)),
      error_code: textField(line(100)),
      response_status: integer(100, 999)
        .nullable()
        .meta({ description: 'The status of the responses; null: there was none.' }),
      state: textField(oneOf(failureStates)),
    }),
  }),

  countRunsOverTime: operation('GET', '/api/v1/scheduler/runs/counts', {
    right: 'run.read',
    summary: 'Count the runs of a time by outcome',
    description: 'Default: the last 24 hours, in steps of 30 minutes.',
    client: 'runs.counts',
    mayLag: true,
    query: z.strictObject(timeRange),
    response: { status: 200, body: runCounts },
  }),

  getRun: operation('GET', '/api/v1/scheduler/runs/:run', {
    right: 'run.read',
    summary: 'Read a run with its request and response',
    client: 'runs.get',
    response: { status: 200, body: runDetail },
    errors: ['log_storage_unavailable'],
  }),

  listOrganizationRuns: operation('GET', '/api/v1/organizations/:org/runs', {
    right: 'organization_run.read',
    summary: 'List the runs of all workspaces that the caller may see, newest first',
    client: 'organizations.runs',
    mayLag: true,
    query: listOrganizationRunsQuery,
    response: { status: 200, body: runPage },
    errors: ['log_storage_unavailable'],
  }),

  exportOrganizationRuns: operation('GET', '/api/v1/organizations/:org/runs/export', {
    right: 'organization_run.read',
    summary: 'Export the runs of all workspaces that the caller may see',
    mayLag: true,
    query: listOrganizationRunsQuery.omit({ limit: true, cursor: true }).extend(exportFormat),
    response: { status: 200, texts: exportTypes },
  }),

  streamOrganizationRuns: operation('GET', '/api/v1/organizations/:org/runs/stream', {
    right: 'organization_run.read',
    summary: 'Follow new runs of all workspaces that the caller may see',
    response: { status: 200, texts: ['text/event-stream'] },
  }),
}
