import type { TaskCount, TaskOperation } from '@belfry/contract/bulk-operation'
import type { Callback, CallbackEvent } from '@belfry/contract/callback'
import type { Retry } from '@belfry/contract/retry'
import type { Task } from '@belfry/contract/task'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { type ListQuery, listOptions } from './page.ts'
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
  return queryOptions({
    queryKey: ['task', workspaceId, taskId],
    queryFn: ({ signal }) => call<Task>('GET', `${base}/${taskId}`, { workspaceId, signal }),
  })
}

/** @param idempotencyKey - The same for a retry of the same form, so a lost response does not create two tasks. */
export function createTask(workspaceId: string, body: NewTask, idempotencyKey: string): Promise<Task> {
  return call('POST', base, { body, workspaceId, idempotencyKey })
}

export function updateTask(workspaceId: string, taskId: string, body: Partial<NewTask>): Promise<Task> {
  return call('PATCH', `${base}/${taskId}`, { body, workspaceId })
}

export function cancelTask(workspaceId: string, taskId: string): Promise<Task> {
  return call('DELETE', `${base}/${taskId}`, { workspaceId })
}

export function replayTask(workspaceId: string, taskId: string): Promise<Task> {
  return call('POST', `${base}/${taskId}/replay`, { workspaceId })
}

export function stopTask(workspaceId: string, taskId: string): Promise<Task> {
  return call('POST', `${base}/${taskId}/stop`, { workspaceId })
}

export type EndAction = 'cancel' | 'stop'

/** Queries how many tasks in a state match a filter of the list. */
export function taskCountQuery(workspaceId: string, state: string, filter: ListQuery) {
  return queryOptions({
    queryKey: ['tasks', workspaceId, 'count', state, filter],
    queryFn: ({ signal }) =>
      call<TaskCount>('GET', `${base}/count`, { query: { ...filter, state }, workspaceId, signal }),
    staleTime: 0,
  })
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
