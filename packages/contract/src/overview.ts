import { z } from 'zod'
import { textField } from './fields.ts'
import { host, hosts } from './host.ts'
import { listOf, namedObject } from './objects.ts'
import { operation } from './operation.ts'
import {
  idField,
  millisecondsField,
  numberOrNull,
  shownFlag,
  shownNumber,
  textOrNull,
  timeOrNull,
  timestampField,
} from './response-fields.ts'
import { counted, runStatusField } from './run.ts'
import { status } from './status.ts'
import { instant, line, oneOf, textRule, wholeNumber } from './text-rules.ts'

const searchKinds = ['task', 'cron_job', 'run', 'label', 'host', 'topic', 'queue', 'secret'] as const

const found = namedObject('Found', {
  kind: z.enum(searchKinds).meta({ description: 'What was found.' }),
  id: textOrNull(
    'The latest task of the name, the cron job or the run. Null for other kinds.',
    'task_01jd8vk3e8f4bvm6cz1q2w3x4y',
  ),
  name: z.string().meta({ examples: ['Trial reminder'], description: 'The name, the label, the host or the topic.' }),
  count: shownNumber('The number of recent tasks with this name, label, host or topic; 1 for other kinds.', 12),
  at: timeOrNull('When the latest of them was created; null for queues and secrets.'),
})

/** What a search has found, at most eight of a kind. */
const searchResult = namedObject('SearchResult', {
  data: z.array(found).meta({ description: 'What was found.' }),
  is_partial: shownFlag('There are older tasks, cron jobs or runs in object storage, which were not searched.', false),
})

export type SearchResult = z.infer<typeof searchResult>
export type Found = SearchResult['data'][number]

const overviewRanges = ['1h', '24h', '7d', '30d'] as const

export type OverviewRange = (typeof overviewRanges)[number]

const lagMs = numberOrNull('Null when nothing ran.', 12)

/** Statistics of all attempts of a workspace in a range. A run is included a few seconds after it was recorded. */
const overview = namedObject('Overview', {
  range: z.enum(overviewRanges),
  from: timestampField(),
  to: timestampField(),
  bucket_ms: millisecondsField(1_800_000),
  runs: z.object(counted).meta({ description: 'The attempts of the whole time.' }),
  lag: z.object({ p50_ms: lagMs, p99_ms: lagMs }).meta({
    description:
      'The delay between the scheduled time and the start of all attempts of the range, to within 10 percent.',
  }),
  buckets: listOf({ at: timestampField(), ...counted, lag_p50_ms: lagMs, lag_p99_ms: lagMs }),
})

export type Overview = z.infer<typeof overview>

const dueCount = z.object({
  at: timestampField().meta({ description: 'The start of the step.' }),
  count: shownNumber('Dispatches that are due in the step.', 12),
})

const upcomingStart = textRule(
  { ...instant.schema, description: 'The start of the time, in RFC 3339 with an offset or `Z`. Default: now.' },
  instant,
)

const upcoming = namedObject('Upcoming', {
  from: timestampField(),
  overdue: shownNumber('Tasks that are due but not started.', 0),
  blocked: shownNumber(
    'Those of them that wait for their queue, or for their host: it is paused, its circuit breaker is open, or it gets no more calls at a time.',
    0,
  ),
  hour: z.array(dueCount).meta({ description: 'The first hour in steps of five minutes.' }),
  day: z.array(dueCount).meta({ description: 'The whole time, by default 24 hours, in steps of an hour.' }),
  next: listOf({
    at: timestampField().meta({ description: 'When the dispatch is due.' }),
    task_id: idField('task').nullable(),
    cronjob_id: idField('cron').nullable(),
    name: z.string().meta({ examples: ['Daily report'], description: 'The name of the task or the cron job.' }),
  }).meta({ description: 'The first dispatches; an occurrence of a cron job without a task yet has no task_id.' }),
  is_capped: shownFlag('Partial count; actual numbers are higher.', false),
})

export type Upcoming = z.infer<typeof upcoming>

const recentRun = z.object({
  id: idField('run'),
  status: runStatusField,
  started_at: timestampField(),
  duration_ms: millisecondsField(84),
})

export const recentRuns = z.object({
  data: listOf({ cronjob_id: idField('cron'), runs: z.array(recentRun) }),
})

export const overviewOperations = {
  search: operation('GET', '/api/v1/scheduler/search', {
    right: 'run.read',
    summary: 'Find tasks, runs, cron jobs, labels, hosts and more by id or by a part of the name',
    description: 'Payloads are not searched. Kinds that the caller may not read are left out.',
    mayLag: true,
    query: z.strictObject({ q: textField(line(200), 'q is required.') }),
    response: { status: 200, body: searchResult },
  }),

  getOverview: operation('GET', '/api/v1/scheduler/overview', {
    right: 'run.read',
    summary: 'Get statistics of the runs of a workspace',
    mayLag: true,
    query: z.strictObject({ range: textField(oneOf(overviewRanges)).default('24h') }),
    response: { status: 200, body: overview },
  }),

  getUpcoming: operation('GET', '/api/v1/scheduler/upcoming', {
    right: 'task.read',
    summary: 'Get the upcoming tasks of a workspace, and the runs of cron jobs that are not tasks yet',
    query: z.strictObject({
      from: textField(upcomingStart).optional(),
      hours: textField(
        wholeNumber(1, 168, { description: 'The length of the time in hours, 1 to 168. Default: 24.' }),
      ).default(24),
      limit: textField(
        wholeNumber(1, 1_000, { description: 'How many dispatches `next` names, 1 to 1,000. Default: 10.' }),
      ).default(10),
    }),
    response: { status: 200, body: upcoming },
  }),

  listHosts: operation('GET', '/api/v1/scheduler/hosts', {
    right: 'host.read',
    summary: 'List the hosts that tasks of a workspace call, with their health',
    client: 'hosts.list',
    response: { status: 200, body: hosts },
  }),

  getHost: operation('GET', '/api/v1/scheduler/hosts/:host', {
    right: 'host.read',
    summary: 'Read a host with its health',
    client: 'hosts.get',
    response: { status: 200, body: host },
  }),

  pauseHost: operation('POST', '/api/v1/scheduler/hosts/:host/pause', {
    right: 'host.write',
    summary: 'Pause a host: the tasks of the workspace for it wait, except callbacks',
    client: 'hosts.pause',
    response: { status: 200, body: host },
    errors: ['conflict'],
  }),

  resumeHost: operation('POST', '/api/v1/scheduler/hosts/:host/resume', {
    right: 'host.write',
    summary: 'Resume a paused host, so its waiting tasks start',
    client: 'hosts.resume',
    response: { status: 200, body: host },
  }),

  resetCircuit: operation('POST', '/api/v1/scheduler/hosts/:host/reset', {
    right: 'host.reset',
    summary: 'Close the circuit breaker of a host',
    description: '`dispatchers` is the number of dispatchers that close it: 0 when it is closed already.',
    client: 'hosts.reset',
    response: {
      status: 202,
      body: namedObject('ResetHost', {
        dispatchers: shownNumber('The dispatchers that close the breaker, within two seconds.', 1),
      }),
    },
  }),

  getStatus: operation('GET', '/api/v1/scheduler/status', {
    right: 'task.read',
    summary: 'Get whether all processes run, and what keeps tasks from running',
    client: 'status.get',
    response: { status: 200, body: status },
  }),
}
