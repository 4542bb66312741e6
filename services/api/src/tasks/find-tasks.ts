import type { Page } from '@belfry/contract/page'
import type { ListTasksQuery, Task } from '@belfry/contract/task'
import { conditionsOf, type TaskFilter as FilterOfTasks } from '@belfry/db/tasks/task-filter'
import { taskStates } from '@belfry/domain/task-state'
import { presentTask } from '@belfry/present/present-task'
import type { TaskRow } from '@belfry/present/task-row'
import type { Allowed } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { isExactly, isOnPage, readBoundedPage, type Scan } from '../http/bounded-page.ts'
import type { PageQuery } from '../http/page.ts'
import { type Where, where } from '../http/where.ts'
import { selectTasks } from './task-row.ts'

export type TaskFilter = FilterOfTasks & Pick<ListTasksQuery, 'state'>

/**
 * Reads a page of a workspace's tasks, newest first.
 * @param only - A further condition, and the name of the list that it makes.
 */
export function findTasks(
  ctx: Context,
  { workspaceId }: Allowed<'task.read' | 'dead_letter.read'>,
  query: TaskFilter & PageQuery,
  only?: { list: string; condition: string },
): Promise<Page<Task>> {
  const scan = scanTasks(workspaceId, query)
  if (only) scan.rest.and(only.condition)
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
         t.queue_id, t.finished_at, t.settled_at
  FROM task_labels l JOIN tasks t ON t.id = l.task_id
)`

// There is an index for each of these. It is in the order of ids for one value at a time only.
function addStreams(along: Where, { ids, cronjob_id, callback_of, label, state = [...taskStates] }: TaskFilter) {
  if (ids) return { key: 'ids', ...addStreamsOf(along, 't.id', ids) }
  if (cronjob_id) return { key: 'cronjob_id', ...addStreamsOf(along, 't.cron_job_id', cronjob_id) }
  if (callback_of) return { key: 'callback_of', ...addStreamsOf(along, 't.callback_of', callback_of) }
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

function addStreamsOf(along: Where, column: string, ids: string[]) {
  const keys = along.add([...new Set(ids)])
  along.and(isExactly(column, 'key.value'))
  return {
    order: `${column} DESC, t.id DESC`,
    streams: `unnest(${keys}::uuid[]) AS key (value)`,
    streamCount: ids.length,
  }
}
