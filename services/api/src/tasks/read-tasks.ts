import { operations } from '@belfry/contract/operations'
import type { ListTasksQuery, Task } from '@belfry/contract/task'
import { listOpenCircuits, listPausedHosts } from '@belfry/db/dispatchers/host-circuits'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { requestColumnOf, selectFields } from '@belfry/db/tasks/stored-request'
import { conditionsOf, type TaskFilter as FilterOfTasks } from '@belfry/db/tasks/task-filter'
import { AppError, notFound } from '@belfry/domain/app-error'
import { firstUuidAt, timeOfUuid } from '@belfry/domain/id'
import { hostOf } from '@belfry/domain/target-url'
import { taskStates } from '@belfry/domain/task-state'
import { presentTask } from '@belfry/present/present-task'
import { toTaskRow } from '@belfry/present/stored-rows'
import type { TaskRow } from '@belfry/present/task-row'
import { type Allowed, authorizeAgain } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import {
  isExactly,
  isOnPage,
  readBounded,
  readBoundedPage,
  type Scan,
  type Where,
  where,
} from '../http/bounded-page.ts'
import { type Columns, exportResponse, members } from '../http/export.ts'
import { findStoredTask } from '../runs/read-runs.ts'

export const getTask = endpoint(operations.getTask, async (ctx, { caller, params }) =>
  readTask(ctx, caller, params.task),
)

export async function readTask(ctx: Context, { workspaceId }: Allowed<'task.read' | 'task.write'>, id: string) {
  const row = (await findTask(ctx.pool, workspaceId, id)) ?? (await findMovedTask(ctx, workspaceId, id))
  const [task] = await withBlocked(ctx, workspaceId, [presentTask(row)])
  return task ?? presentTask(row)
}

export const listTasks = endpoint(operations.listTasks, async (ctx, { caller, query }) => {
  const scan = scanTasks(caller.workspaceId, query)
  const page = await readBoundedPage<TaskRow, Task>(ctx, query, scan, `tasks:${caller.workspaceId}`, presentTask)
  return { ...page, data: await withBlocked(ctx, caller.workspaceId, page.data) }
})

export const exportTasks = endpoint(operations.exportTasks, async (ctx, { caller, query, request }) => {
  const scan = scanTasks(caller.workspaceId, query)
  const read = (after: string | undefined, limit: number) => readBounded<TaskRow>(ctx, scan, after, limit)
  const { format } = query
  const check = () => authorizeAgain(ctx, request, 'task.read')
  const content = { name: 'tasks', format, read, present: presentTask, columns, check }
  return exportResponse<TaskRow, Task>(request, caller.organizationId, content)
})

// Only the JSON form has headers and payloads.
const columns: Columns<Task> = {
  ...members('id', 'name', 'source', 'cronjob_id', 'topic', 'queue', 'url', 'method', 'execute_at', 'state'),
  ...members('state_reason', 'attempts', 'next_retry_at', 'expires_at', 'key'),
  labels: task => task.labels.join(' '),
  last_run_id: task => task.last_run?.id ?? null,
  last_run_status: task => task.last_run?.status ?? null,
  last_run_response_status: task => task.last_run?.response_status ?? null,
  ...members('created_at', 'updated_at', 'finished_at'),
}

// Adds what blocks the tasks that are due. Asks the database only if one of them is.
async function withBlocked(ctx: Context, workspaceId: string, tasks: Task[]): Promise<Task[]> {
  const now = ctx.clock.now()
  if (!tasks.some(task => task.blocked === null && isDue(task, now))) return tasks
  const [circuits, paused] = await Promise.all([
    listOpenCircuits(ctx.pool, workspaceId),
    listPausedHosts(ctx.pool, workspaceId),
  ])
  if (circuits.length + paused.size === 0) return tasks
  const open = new Map(circuits.map(circuit => [circuit.host, circuit]))
  return tasks.map(task => {
    if (task.blocked !== null || !isDue(task, now)) return task
    const target = hostOf(task.url)
    const pausedAt = task.source === 'callback' ? undefined : paused.get(target)
    if (pausedAt) return { ...task, blocked: { reason: 'host_paused', host: target, since: pausedAt.toISOString() } }
    const circuit = open.get(target)
    if (!circuit) return task
    const { host, since, nextProbeAt } = circuit
    const times = { since: since.toISOString(), next_probe_at: nextProbeAt.toISOString() }
    return { ...task, blocked: { reason: 'circuit_open', host, ...times } }
  })
}

function isDue({ state, execute_at, next_retry_at }: Task, now: number): boolean {
  return (state === 'pending' || state === 'retrying') && Date.parse(next_retry_at ?? execute_at) <= now
}

export type TaskFilter = FilterOfTasks & Pick<ListTasksQuery, 'state'>

/** Returns the index along which the tasks of a workspace are read, and the conditions that are checked for each task. */
export function scanTasks(workspaceId: string, filter: TaskFilter): Scan {
  const along = where()
  const streams = addStreams(along, filter)
  // The indexes by cron job and by callback do not contain the workspace, so each row is checked for it. The id of an
  // object in another workspace does not make the scan more expensive.
  // There is no index by event: it would make every dispatch slower. An event and its tasks get their ids together, so the
  // times in the ids limit the scan. Replays have later ids and are not found.
  if (filter.event_id) {
    const times = filter.event_id.map(timeOfUuid)
    along.and('t.id >= ?', firstUuidAt(Math.min(...times) - 1000))
    along.and('t.id < ?', firstUuidAt(Math.max(...times) + 60_000))
  }
  const isOfLabel = streams.key === 'label'
  const hasWorkspace = streams.key === 'state' || isOfLabel
  if (hasWorkspace) along.and('t.workspace_id = ?', workspaceId)
  const rest = where(along)
  if (!hasWorkspace) rest.and('t.workspace_id = ?', workspaceId)
  if (filter.state && streams.key !== 'state') rest.and('t.state = ANY (?::task_state[])', filter.state)
  for (const condition of conditionsOf({ ...filter, [streams.key]: undefined }, rest.add)) rest.and(condition)
  // A task with several of the labels is in the stream of the first only.
  if (filter.label && isOfLabel && streams.streamCount > 1)
    rest.and(
      `NOT EXISTS (
        SELECT FROM task_labels o
        WHERE o.workspace_id = t.workspace_id AND o.label = ANY (?::text[]) AND o.label < t.label AND o.task_id = t.id
      )`,
      filter.label,
    )
  return {
    ...streams,
    table: isOfLabel ? labelledTasks : 'tasks',
    alias: 't',
    along,
    rest,
    read: `${selectTasks} WHERE ${isOnPage('t.id')}`,
    payload: '(SELECT payload FROM task_requests WHERE task_id = candidate.id)',
  }
}

// The index of labels is in the order of the tasks' ids.
const labelledTasks = `(
  SELECT l.workspace_id, l.label, l.task_id AS id, t.created_at, t.state, t.source, t.event_id, t.execute_at, t.cron_job_id, t.callback_of,
         t.queue_id, t.finished_at, t.settled_at, t.state_reason
  FROM task_labels l JOIN tasks t ON t.id = l.task_id
)`

// There is an index for each of these. It is in the order of ids for one value at a time only.
function addStreams(along: Where, { ids, cronjob_id, callback_of, label, state = [...taskStates] }: TaskFilter) {
  if (ids) return addStreamsOf(along, 'ids', 'id', 'uuid', ids)
  if (cronjob_id) return addStreamsOf(along, 'cronjob_id', 'cron_job_id', 'uuid', cronjob_id)
  if (callback_of) return addStreamsOf(along, 'callback_of', 'callback_of', 'uuid', callback_of)
  if (label) return addStreamsOf(along, 'label', 'label', 'text', label)
  return {
    ...addStreamsOf(along, 'state', 'state', 'task_state', state),
    // Most states have few tasks, so several streams together may scan more than one stream.
    maxScanned: 4_000 + 1_600 * (state.length - 1),
  }
}

function addStreamsOf(along: Where, key: keyof TaskFilter, column: string, type: string, given: readonly string[]) {
  const values = [...new Set(given)]
  const streams = `unnest(${along.add(values)}::${type}[]) AS key (value)`
  along.and(isExactly(`t.${column}`, 'key.value'))
  // Only the index of labels is read backwards.
  return { key, streams, streamCount: values.length, order: `t.${column}${key === 'label' ? ' DESC' : ''}, t.id DESC` }
}

/** Selects tasks. The caller appends conditions: `t` is the task, `r` its request. */
const selectTasks = `
  SELECT t.id, t.workspace_id AS "workspaceId", t.source, t.state, t.state_reason AS "stateReason", t.attempts,
         t.execute_at AS "executeAt", t.due_at AS "dueAt", t.cron_job_id AS "cronJobId", t.event_id AS "eventId",
         t.callback_of AS "callbackOf", t.replay_of AS "replayOf", t.created_at AS "createdAt", t.updated_at AS "updatedAt",
         t.finished_at AS "finishedAt", ${selectFields('r', requestColumnOf)}, r.name, r.is_report AS "isReport",
         r.topic, r.labels, t.expires_at AS "expiresAt", t.key,
         r.created_by AS "createdBy", r.updated_by AS "updatedBy", t.waits_for AS "waitsFor",
         last.id AS "lastRunId", last.status AS "lastRunStatus",
         last.response_status AS "lastRunResponseStatus", last.error_code AS "lastRunErrorCode",
         last.finished_at AS "lastRunFinishedAt"
  FROM tasks t JOIN task_requests r ON r.task_id = t.id
  LEFT JOIN LATERAL (
    -- A run is younger than its task, so the bound on the id skips older partitions.
    SELECT id, status, response_status, error_code, finished_at FROM runs
    WHERE runs.task_id = t.id AND runs.id >= uuid_v7_floor(t.created_at)
    ORDER BY runs.id DESC LIMIT 1
  ) last ON t.attempts > 0`

export async function findTask(db: Db, workspaceId: string, taskId: string): Promise<TaskRow | undefined> {
  const text = `${selectTasks} WHERE t.id = $1 AND t.workspace_id = $2`
  const { rows } = await db.query<TaskRow>({ name: 'find_task', text, values: [taskId, workspaceId] })
  return rows[0]
}

export async function findTaskRows(db: Db, workspaceId: string, taskIds: readonly string[]): Promise<TaskRow[]> {
  const text = `${selectTasks} WHERE t.id = ANY ($1::uuid[]) AND t.workspace_id = $2`
  return (await db.query<TaskRow>({ name: 'find_tasks', text, values: [taskIds, workspaceId] })).rows
}

/** Reads a task from object storage. It is not restored. */
async function findMovedTask(ctx: Context, workspaceId: string, taskId: string): Promise<TaskRow> {
  const { last, isComplete } = await findStoredTask(ctx, workspaceId, taskId)
  if (!last?.task) throw isComplete ? notFound() : new AppError('not_found', unsearched)
  return toTaskRow({ ...last, task: last.task })
}

const unsearched =
  'No such task in PostgreSQL, or in the first parts of object storage that may have it. GET /runs?task_id= searches further.'
