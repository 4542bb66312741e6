import type { Page } from '@belfry/contract/page'
import type { ListTasksQuery, Task } from '@belfry/contract/task'
import { hasLabel } from '@belfry/db/tasks/task-labels'
import { taskStates } from '@belfry/domain/task-state'
import type { Context } from '../context.ts'
import { isExactly, isOnPage, readBoundedPage, type Scan } from '../http/bounded-page.ts'
import { type Where, where } from '../http/where.ts'
import { presentTask } from './present-task.ts'
import { selectTasks, type TaskRow } from './task-row.ts'

export type TaskFilter = Omit<ListTasksQuery, 'limit' | 'cursor'>

/**
 * Reads a page of a workspace's tasks, newest first.
 * @param only - Further conditions, and the name of the list that they make.
 */
export function findTasks(
  ctx: Context,
  workspaceId: string,
  query: ListTasksQuery,
  only?: { list: string; narrow(rest: Where): void },
): Promise<Page<Task>> {
  const scan = scanTasks(workspaceId, query)
  only?.narrow(scan.rest)
  const list = `${only?.list ?? 'tasks'}:${workspaceId}`
  return readBoundedPage<TaskRow, Task>(ctx, query, scan, list, presentTask)
}

/** Returns the index along which the tasks of a workspace are read, and the conditions that are checked for each task. */
export function scanTasks(workspaceId: string, filter: TaskFilter): Scan {
  const along = where()
  const streams = addStreams(along, filter)
  // The indexes of the tasks of a cron job and of the callbacks of a task have no workspace. Reading those of another
  // workspace costs no more.
  if (filter.event_id) {
    const times = filter.event_id.map(timeOf)
    along.and('t.id >= ?', firstIdAt(Math.min(...times) - 1000))
    along.and('t.id < ?', firstIdAt(Math.max(...times) + 60_000))
  }
  const isOfLabel = streams.key === 'label'
  const hasWorkspace = streams.key === 'state' || isOfLabel
  if (hasWorkspace) along.and('t.workspace_id = ?', workspaceId)
  const rest = where(along)
  if (!hasWorkspace) rest.and('t.workspace_id = ?', workspaceId)
  if (filter.event_id) rest.and('t.event_id = ANY (?::uuid[])', filter.event_id)
  if (filter.state && streams.key !== 'state') rest.and('t.state = ANY (?::task_state[])', filter.state)
  if (filter.label && !isOfLabel) rest.and(hasLabel('t', '?'), filter.label)
  // A task with several of the labels is in the stream of the first only.
  if (filter.label && isOfLabel && streams.streamCount > 1)
    rest.and(
      `NOT EXISTS (
        SELECT FROM task_labels o
        WHERE o.workspace_id = t.workspace_id AND o.label = ANY (?::text[]) AND o.label < t.label AND o.task_id = t.id
      )`,
      filter.label,
    )
  if (filter.source) rest.and('t.source = ANY (?::task_source[])', filter.source)
  if (filter.callback_of && streams.key !== 'callback_of') {
    rest.and('t.callback_of = ANY (?::uuid[])', filter.callback_of)
  }
  if (filter.name) rest.and('starts_with(r.name, ?)', filter.name)
  if (filter.topic) rest.and('r.topic = ANY (?::text[])', filter.topic)
  if (filter.queue) rest.and('r.queue = ANY (?::text[])', filter.queue)
  if (filter.from) rest.and('t.execute_at >= ?', filter.from)
  if (filter.to) rest.and('t.execute_at < ?', filter.to)
  const joined = filter.name || filter.topic || filter.queue ? 'JOIN task_requests r ON r.task_id = t.id' : ''
  return {
    ...streams,
    table: isOfLabel ? labelledTasks : 'tasks',
    alias: 't',
    along,
    joined,
    rest,
    read: `${selectTasks} WHERE ${isOnPage('t.id')}`,
  }
}

// There is no index by event: it would make every dispatch slower. An event and its tasks get their ids together, so the
// times in the ids limit the scan. Replays have later ids and are not found.
function timeOf(uuid: string): number {
  return Number.parseInt(uuid.replace('-', '').slice(0, 12), 16)
}

function firstIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0').slice(-12)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

// The index of labels is in the order of the tasks' ids.
const labelledTasks = `(
  SELECT l.workspace_id, l.label, l.task_id AS id, t.created_at, t.state, t.source, t.event_id, t.execute_at, t.cron_job_id, t.callback_of,
         t.queue_id, t.settled_at
  FROM task_labels l JOIN tasks t ON t.id = l.task_id
)`

// There is an index for each of these. It is in the order of ids for one value at a time only.
function addStreams(along: Where, { cronjob_id, callback_of, label, state = [...taskStates] }: TaskFilter) {
  if (cronjob_id) return addStreamsOf(along, 'cron_job_id', cronjob_id)
  if (callback_of) return addStreamsOf(along, 'callback_of', callback_of)
  if (label) {
    const labels = [...new Set(label)]
    const keys = along.add(labels)
    along.and(isExactly('t.label', 'key.value'))
    return {
      key: 'label',
      order: 't.label DESC, t.id DESC',
      streams: `unnest(${keys}::text[]) AS key (value)`,
      streamCount: labels.length,
    }
  }
  const keys = along.add([...new Set(state)])
  along.and(isExactly('t.state', 'key.value'))
  const order = 't.state, t.id DESC'
  return {
    key: 'state',
    order,
    streams: `unnest(${keys}::task_state[]) AS key (value)`,
    streamCount: state.length,
    // Most states have few tasks or none, so several streams together may scan more than one stream.
    maxScanned: 4_000 + 1_600 * (state.length - 1),
  }
}

function addStreamsOf(along: Where, key: 'cron_job_id' | 'callback_of', ids: readonly string[]) {
  const keys = along.add([...new Set(ids)])
  along.and(isExactly(`t.${key}`, 'key.value'))
  const order = `t.${key} DESC, t.id DESC`
  return { key, order, streams: `unnest(${keys}::uuid[]) AS key (value)`, streamCount: ids.length }
}
