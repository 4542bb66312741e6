import { operations } from '@belfry/contract/operations'
import type { Task } from '@belfry/contract/task'
import { listOpenCircuits, listPausedHosts } from '@belfry/db/dispatchers/host-circuits'
import { hostOf } from '@belfry/domain/target-url'
import { presentTask } from '@belfry/present/present-task'
import type { TaskRow } from '@belfry/present/task-row'
import type { Allowed } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { readBounded } from '../http/bounded-page.ts'
import { type Cell, exportReply } from '../http/export.ts'
import { findTasks, scanTasks } from './find-tasks.ts'
import { findMovedTask, findTask } from './task-row.ts'

export const getTask = endpoint(operations.getTask, async (ctx, { caller, params }) =>
  readTask(ctx, caller, params.task),
)

/** Reads a task in its public form. */
export async function readTask(
  ctx: Context,
  { workspaceId }: Allowed<'task.read' | 'task.write'>,
  id: string,
): Promise<Task> {
  const row = (await findTask(ctx.pool, workspaceId, id)) ?? (await findMovedTask(ctx, workspaceId, id))
  const [task] = await withBlocked(ctx, workspaceId, [presentTask(row)])
  return task ?? presentTask(row)
}

export const listTasks = endpoint(operations.listTasks, async (ctx, { caller, query }) => {
  const page = await findTasks(ctx, caller, query)
  return { ...page, data: await withBlocked(ctx, caller.workspaceId, page.data) }
})

export const exportTasks = endpoint(operations.exportTasks, async (ctx, { caller, query }) => {
  const scan = scanTasks(caller.workspaceId, query)
  const read = (after: string | undefined, limit: number) => readBounded<TaskRow>(ctx, scan, after, limit)
  const { format } = query
  const content = { name: 'tasks', format, read, present: presentTask, columns }
  return exportReply<TaskRow, Task>(caller.organizationId, content)
})

// Only the JSON form has headers and payloads.
const columns: Readonly<Record<string, (task: Task) => Cell>> = {
  id: task => task.id,
  name: task => task.name,
  source: task => task.source,
  cronjob_id: task => task.cronjob_id,
  topic: task => task.topic,
  queue: task => task.queue,
  url: task => task.url,
  method: task => task.method,
  execute_at: task => task.execute_at,
  state: task => task.state,
  state_reason: task => task.state_reason,
  attempts: task => task.attempts,
  next_retry_at: task => task.next_retry_at,
  expires_at: task => task.expires_at,
  key: task => task.key,
  labels: task => task.labels.join(' '),
  last_run_id: task => task.last_run?.id ?? null,
  last_run_status: task => task.last_run?.status ?? null,
  last_run_response_status: task => task.last_run?.response_status ?? null,
  created_at: task => task.created_at,
  updated_at: task => task.updated_at,
  finished_at: task => task.finished_at,
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
