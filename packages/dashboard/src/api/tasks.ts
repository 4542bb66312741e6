import type { BulkOperation, DeadLetterOperation, TaskCount, TaskOperation } from '@belfry/contract/bulk-operation'
import type { Callback, CallbackEvent } from '@belfry/contract/callback'
import type { Page } from '@belfry/contract/page'
import type { Retry } from '@belfry/contract/retry'
import type { Task } from '@belfry/contract/task'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { patch, post, remove } from './operation.ts'
import { type ListQuery, listOptions, objectOptions } from './page.ts'
import type { PayloadText } from './payload-text.ts'

const tasksPath = '/api/v1/scheduler/tasks'

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
  return listOptions<Task>(['tasks', workspaceId], tasksPath, query, workspaceId)
}

export function taskQuery(workspaceId: string, taskId: string) {
  return objectOptions<Task>(['task', workspaceId, taskId], `${tasksPath}/${taskId}`, workspaceId)
}

/** @param idempotencyKey - The same for a retry of the same form, so a lost response does not create two tasks. */
export function createTask(workspaceId: string, body: NewTask, idempotencyKey: string): Promise<Task> {
  return call('POST', tasksPath, { body, workspaceId, idempotencyKey })
}

export const updateTask = patch('/api/v1/scheduler/tasks/:task')<Task, Partial<NewTask>>
export const cancelTask = remove('/api/v1/scheduler/tasks/:task')<Task>
export const replayTask = post('/api/v1/scheduler/tasks/:task/replay')<Task>
export const stopTask = post('/api/v1/scheduler/tasks/:task/stop')<Task>

export type EndAction = 'cancel' | 'stop'

/** Queries how many tasks in a state match a filter of the list. */
export function taskCountQuery(workspaceId: string, state: string, filter: ListQuery) {
  const key = ['tasks', workspaceId, 'count', state, filter]
  const read = objectOptions<TaskCount>(key, `${tasksPath}/count`, workspaceId, { ...filter, state })
  return queryOptions({ ...read, staleTime: 0 })
}

/** Cancels or stops the tasks that match a filter. */
export async function endTasks(
  workspaceId: string,
  action: EndAction,
  filter: ListQuery,
): Promise<{ count: number; operation: TaskOperation | null }> {
  type Counts = { cancelled?: number; stopped?: number; operation: TaskOperation | null }
  const answer = await call<Counts>('POST', `${tasksPath}/${action}`, { body: { filter }, workspaceId })
  return { count: answer.cancelled ?? answer.stopped ?? 0, operation: answer.operation }
}

const deadLettersPath = '/api/v1/scheduler/dead-letters'

export type DeadLetterAction = 'replay' | 'discard'

export type DeadLetterFilter = {
  cronjob_id?: string
  topic?: string
  name?: string
  host?: readonly string[]
  error?: readonly string[]
  from?: string
  to?: string
}

/** Selects dead letters by id, or all that match a filter. */
export type DeadLetterSelection = { ids: readonly string[] } | { filter: DeadLetterFilter }

/** `per_second`: how many replays are due per second, instead of all at once. */
export type Pace = { per_second?: number }

/** How many were settled immediately, and the background operation that settles the rest. */
export type Settled = { count: number; operation: DeadLetterOperation | null }

export function deadLettersQuery(workspaceId: string, query: ListQuery = {}) {
  return listOptions<Task>(['dead-letters', workspaceId], deadLettersPath, query, workspaceId)
}

// Pages of 100 that a confirmation reads to show what it is about.
const maxPages = 10

/** Queries the dead letters that a filter selects, up to 1,000. */
export function deadLettersToSettleQuery(workspaceId: string, filter: ListQuery) {
  return queryOptions({
    queryKey: ['dead-letters', workspaceId, 'to settle', filter],
    async queryFn({ signal }) {
      const tasks: Task[] = []
      let cursor: string | undefined
      for (let reads = 0; reads < maxPages; reads += 1) {
        const query = { ...filter, limit: 100, cursor }
        const page: Page<Task> = await call('GET', deadLettersPath, { query, workspaceId, signal })
        tasks.push(...page.data)
        cursor = page.next_cursor ?? undefined
        if (!cursor) break
      }
      return { tasks, hasMore: cursor !== undefined }
    },
    staleTime: 0,
  })
}

export async function settleDeadLetters(
  workspaceId: string,
  action: DeadLetterAction,
  body: DeadLetterSelection & Pace,
): Promise<Settled> {
  type Counts = { replayed?: number; discarded?: number; operation: DeadLetterOperation | null }
  const { replayed, discarded, operation } = await call<Counts>('POST', `${deadLettersPath}/${action}`, {
    body,
    workspaceId,
  })
  return { count: replayed ?? discarded ?? 0, operation }
}

/** Reads an operation, each second while it runs. */
export function bulkOperationQuery(workspaceId: string, id: string) {
  return queryOptions({
    ...objectOptions<BulkOperation>(
      ['bulk-operation', workspaceId, id],
      `/api/v1/scheduler/bulk-operations/${id}`,
      workspaceId,
    ),
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'running' ? false : 1000),
  })
}

export const cancelBulkOperation = post('/api/v1/scheduler/bulk-operations/:operation/cancel')<BulkOperation>
