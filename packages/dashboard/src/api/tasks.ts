import type { Callback, CallbackEvent, Task } from '@belfry/contract'
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
  retry: { max_retries: number; backoff: string; base_delay_ms: number; max_delay_ms: number }
  timeout_ms: number
  queue?: string | null
} & { [Event in CallbackEvent]: CallbackBody | null }

export type NewTask = RequestBody & { name: string; execute_at: string }

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
