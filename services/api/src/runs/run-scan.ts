import type { ListRunsQuery } from '@belfry/contract/run'
import { hostOfRequest } from '@belfry/db/tasks/task-row'
import { isExactly, type Scan, type Where, where } from '../http/bounded-page.ts'

export type RunFilter = Omit<ListRunsQuery, 'limit' | 'cursor'>

type Key = { column: 'task_id' | 'cron_job_id' | 'topic'; type: 'uuid' | 'text'; values: readonly string[] }

/** Returns the index along which the runs of some workspaces are read, and the conditions that are checked for each run. */
export function scanRuns(workspaceIds: readonly string[], filter: RunFilter): Scan {
  const key = keyOf(filter)
  const along = where()
  const workspaces = along.add(workspaceIds)
  const onlyFailures = key === null && isAboutFailures(filter)
  const streams = key
    ? addKeyStreams(along, workspaces, workspaceIds.length, key)
    : addWorkspaceStreams(along, workspaces, workspaceIds.length, onlyFailures)
  // The id contains the time of the claim, at most a few milliseconds before the start. A range of ids reads only the
  // partitions and pages of that time; the filter on the start decides.
  if (filter.from) along.and(`u.id >= uuid_v7_floor(?::timestamptz - interval '1 minute')`, filter.from)
  if (filter.to) along.and('u.id < uuid_v7_floor(?::timestamptz)', filter.to)
  const rest = where(along)
  if (filter.status && (!onlyFailures || filter.status.includes('success')))
    rest.and('u.status = ANY (?::run_status[])', filter.status)
  if (filter.source) rest.and('u.source = ANY (?::task_source[])', filter.source)
  if (filter.cronjob_id && key?.column !== 'cron_job_id') rest.and('u.cron_job_id = ANY (?::uuid[])', filter.cronjob_id)
  if (filter.topic && key?.column !== 'topic') rest.and('u.topic = ANY (?::text[])', filter.topic)
  if (filter.label)
    rest.and(
      `EXISTS (
        SELECT FROM task_labels l
        WHERE l.workspace_id = u.workspace_id AND l.label = ANY (?::text[]) AND l.task_id = u.task_id
      )`,
      filter.label,
    )
  if (filter.response_status) rest.and(...byResponseStatus(filter.response_status))
  if (filter.error) rest.and('u.error_code = ANY (?::text[])', filter.error)
  if (filter.late_ms !== undefined)
    rest.and(`u.started_at >= u.scheduled_at + ?::int * interval '1 millisecond'`, filter.late_ms)
  if (filter.name) rest.and('starts_with(r.name, ?)', filter.name)
  if (filter.host) rest.and(`${hostOfRequest} = ANY (?::text[])`, filter.host.map(inLowerCase))
  exclude(rest, filter)
  const joined = filter.name || filter.host || filter.not_name || filter.not_host ? joinRequests : ''
  if (filter.from) rest.and('u.started_at >= ?', filter.from)
  if (filter.to) rest.and('u.started_at < ?', filter.to)
  // Each row is looked up alone, in its own partition. OFFSET 0 keeps the planner from reversing the join.
  const one = `SELECT * FROM runs WHERE workspace_id = ANY (${workspaces}::uuid[]) AND id = page.id OFFSET 0`
  const of = `FROM page CROSS JOIN LATERAL (${one}) u ${joinRequests}`
  return { ...streams, table: 'runs', alias: 'u', along, joined, rest, read: `SELECT ${runColumns} ${of}` }
}

// The most selective first.
function keyOf({ task_id, cronjob_id, topic }: RunFilter): Key | null {
  if (task_id) return { column: 'task_id', type: 'uuid', values: unique(task_id) }
  if (cronjob_id) return { column: 'cron_job_id', type: 'uuid', values: unique(cronjob_id) }
  if (topic) return { column: 'topic', type: 'text', values: unique(topic) }
  return null
}

type Streams = Pick<Scan, 'streams' | 'streamCount' | 'order'>

function addWorkspaceStreams(along: Where, workspaces: string, count: number, onlyFailures: boolean): Streams {
  const streams = `unnest(${workspaces}::uuid[]) AS workspace (id)`
  along.and('u.workspace_id = workspace.id')
  // Written like the condition of the partial index.
  if (onlyFailures) along.and(`u.status >= 'failed'`)
  return { streams, streamCount: count, order: onlyFailures ? 'u.status DESC, u.id DESC' : 'u.id DESC' }
}

function addKeyStreams(along: Where, workspaces: string, count: number, { column, type, values }: Key): Streams {
  const ofKeys = `unnest(${along.add(values)}::${type}[]) AS key (value)`
  if (column === 'task_id') {
    along.and(`u.task_id = key.value AND u.workspace_id = ANY (${workspaces}::uuid[])`)
    return { streams: ofKeys, streamCount: values.length, order: 'u.id DESC' }
  }
  const { streams, streamCount } = addWorkspaceStreams(along, workspaces, count, false)
  along.and(isExactly(`u.${column}`, 'key.value'))
  return {
    streams: `${streams} CROSS JOIN ${ofKeys}`,
    streamCount: streamCount * values.length,
    order: `u.${column} DESC, u.id DESC`,
  }
}

// Only a response status of 2xx is a success, so a filter for others selects failures. So does one for errors.
function isAboutFailures({ status, response_status, error }: RunFilter): boolean {
  if (error) return true
  if (status && !status.includes('success')) return true
  return response_status?.every(({ from, to }) => to < 200 || from > 299) ?? false
}

// Each range is one status or a class such as `5xx`.
function byResponseStatus(
  statuses: NonNullable<RunFilter['response_status']>,
): [condition: string, ...values: number[]] {
  const ranges = statuses.map(() => 'u.response_status BETWEEN ? AND ?').join(' OR ')
  return [`(${ranges})`, ...statuses.flatMap(({ from, to }) => [from, to])]
}

// A run without the value, such as a topic, is not excluded.
function exclude(rest: Where, filter: RunFilter): void {
  const unless = (condition: string, ...values: unknown[]) => rest.and(`(${condition}) IS NOT TRUE`, ...values)
  if (filter.not_source) unless('u.source = ANY (?::task_source[])', filter.not_source)
  if (filter.not_cronjob_id) unless('u.cron_job_id = ANY (?::uuid[])', filter.not_cronjob_id)
  if (filter.not_topic) unless('u.topic = ANY (?::text[])', filter.not_topic)
  if (filter.not_error) unless('u.error_code = ANY (?::text[])', filter.not_error)
  if (filter.not_response_status) unless(...byResponseStatus(filter.not_response_status))
  if (filter.not_name) unless('r.name ^@ ANY (?::text[])', filter.not_name)
  if (filter.not_host) unless(`${hostOfRequest} = ANY (?::text[])`, filter.not_host.map(inLowerCase))
}

function inLowerCase(host: string): string {
  return host.toLowerCase()
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}

/** The columns of a run in a list, without bodies. `u` is the run, `r` its task's request. */
export const runColumns = `
  u.id, u.workspace_id AS "workspaceId", u.task_id AS "taskId", r.name AS "taskName", u.source,
  u.cron_job_id AS "cronJobId",
  (SELECT timezone FROM cron_jobs c WHERE c.id = u.cron_job_id AND c.workspace_id = u.workspace_id) AS "cronJobTimezone", u.topic,
  r.labels, u.attempt, u.status, u.scheduled_at AS "scheduledAt", u.started_at AS "startedAt", u.finished_at AS "finishedAt", u.waited_for AS "waitedFor", u.timings, r.url, r.method,
  u.response_status AS "responseStatus", u.error_code AS "errorCode", u.error_message AS "errorMessage"`

export const joinRequests = 'JOIN task_requests r ON r.task_id = u.task_id'
