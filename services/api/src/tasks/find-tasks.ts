import type { ListTasksQuery, Page, Task } from '@belfry/contract'
import { taskStates } from '@belfry/domain'
import type { Context } from '../context.ts'
import { isExactly, isOnPage, readBoundedPage, type Scan } from '../http/bounded-page.ts'
import { type Where, where } from '../http/where.ts'
import { presentTask } from './present-task.ts'
import { selectTasks, type TaskRow } from './task-row.ts'

export type TaskFilter = Omit<ListTasksQuery, 'limit' | 'cursor'>

/** Reads a page of a workspace's tasks, newest first; of those for which a further condition of ours holds, if given. */
export function findTasks(
  ctx: Context,
  workspaceId: string,
  query: ListTasksQuery,
  only?: { list: string; condition: string },
): Promise<Page<Task>> {
  const scan = scanTasks(workspaceId, query)
  if (only) scan.rest.and(only.condition)
  const list = `${only?.list ?? 'tasks'}:${workspaceId}`
  return readBoundedPage<TaskRow, Task>(ctx, query, scan, list, presentTask)
}

/** Decides along which index the tasks of a workspace are read, and what each one found there must be besides. */
export function scanTasks(workspaceId: string, filter: TaskFilter): Scan {
  const along = where()
  const streams = addStreams(along, filter)
  // The index of a cron job's tasks has no workspace. Somebody else's cron job costs no more than one's own.
  const isOfCronJob = streams.key === 'cron_job_id'
  if (!isOfCronJob) along.and('t.workspace_id = ?', workspaceId)
  const rest = where(along)
  if (isOfCronJob) rest.and('t.workspace_id = ?', workspaceId)
  if (filter.state && streams.key !== 'state') rest.and('t.state = ANY (?::task_state[])', filter.state)
  if (filter.source) rest.and('t.source = ANY (?::task_source[])', filter.source)
  if (filter.name) rest.and('starts_with(r.name, ?)', filter.name)
  if (filter.topic) rest.and('r.topic = ANY (?::text[])', filter.topic)
  if (filter.from) rest.and('t.execute_at >= ?', filter.from)
  if (filter.to) rest.and('t.execute_at < ?', filter.to)
  const joined = filter.name || filter.topic ? 'JOIN task_requests r ON r.task_id = t.id' : ''
  return {
    ...streams,
    table: 'tasks',
    alias: 't',
    along,
    joined,
    rest,
    read: `${selectTasks} WHERE ${isOnPage('t.id')}`,
  }
}

// There is an index for each of these, but in the order of ids only for one value at a time.
function addStreams(along: Where, { cronjob_id, state = [...taskStates] }: TaskFilter) {
  if (cronjob_id) {
    const keys = along.add([...new Set(cronjob_id)])
    along.and(isExactly('t.cron_job_id', 'key.value'))
    const order = 't.cron_job_id DESC, t.id DESC'
    return {
      key: 'cron_job_id',
      order,
      streams: `unnest(${keys}::uuid[]) AS key (value)`,
      streamCount: cronjob_id.length,
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
    // Most states have few tasks or none, so the streams may share more than one stream may look at.
    lookAt: 4_000 + 1_600 * (state.length - 1),
  }
}
