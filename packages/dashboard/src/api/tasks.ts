import type { TaskCount, TaskOperation } from '@belfry/contract/bulk-operation'
import type { Callback, CallbackEvent } from '@belfry/contract/callback'
import type { Retry } from '@belfry/contract/retry'
import type { Task } from '@belfry/contract/task'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { patch, post, remove } from './operation.ts'
import { type ListQuery, listOptions, objectOptions } from './page.ts'
import type { PayloadText } from './payload-text.ts'

const base = '/api/v1/scheduler/tasks'

export type CallbackBody = Pick<Callback, 'url'> & Partial<Callback>

export type RequestBody = {
  url: string
  method: string
  headers: Record<string, string>
  payload?: PayloadText
  payload_base64?: string | null
  content_type?: string | null
  retry: Retry
  timeout_ms: number
  queue?: string | null
  connection?: string | null
} & { [Event in CallbackEvent]: CallbackBody | null }

/** The queue, the connection, the deadline, the labels and the callbacks of the tasks of an event or a subscription. */
export type FlowBody = {
  queue: string | null
  connection: string | null
  max_age_ms: number | null
  labels: string[]
} & {
  [Event in CallbackEvent]: CallbackBody | null
}

export type NewTask = RequestBody & {
  name: string
  execute_at: string
  expires_at?: string | null
  key?: string
  on_conflict?: string
  labels?: string[]
}

export function tasksQuery(workspaceId: string, query: ListQuery = {}) {
  return listOptions<Task>(['tasks', workspaceId], base, query, workspaceId)
}

export function taskQuery(workspaceId: string, taskId: string) {
  return objectOptions<Task>(['task', workspaceId, taskId], `${base}/${taskId}`, workspaceId)
}

/** @param idempotencyKey - The same for a retry of the same form, so a lost response does not create two tasks. */
export function createTask(workspaceId: string, body: NewTask, idempotencyKey: string): Promise<Task> {
  return call('POST', base, { body, workspaceId, idempotencyKey })
}

export const updateTask = patch('/api/v1/scheduler/tasks/:task')<Task, Partial<NewTask>>
export const cancelTask = remove('/api/v1/scheduler/tasks/:task')<Task>
export const replayTask = post('/api/v1/scheduler/tasks/:task/replay')<Task>
export const stopTask = post('/api/v1/scheduler/tasks/:task/stop')<Task>

export type EndAction = 'cancel' | 'stop'

/** Queries how many tasks in a state match a filter of the list. */
export function taskCountQuery(workspaceId: string, state: string, filter: ListQuery) {
  const key = ['tasks', workspaceId, 'count', state, filter]
  const read = objectOptions<TaskCount>(key, `${base}/count`, workspaceId, { ...filter, state })
  return queryOptions({ ...read, staleTime: 0 })
}

/** Cancels or stops the tasks that match a filter. */
export async function endTasks(
  workspaceId: string,
  action: EndAction,
  filter: ListQuery,
): Promise<{ count: number; operation: TaskOperation | null }> {
  type Counts = { cancelled?: number; stopped?: number; operation: TaskOperation | null }
  const answer = await call<Counts>('POST', `${base}/${action}`, { body: { filter }, workspaceId })
  return { count: answer.cancelled ?? answer.stopped ?? 0, operation: answer.operation }
}
