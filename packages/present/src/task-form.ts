import type { Callback, CallbackEvent } from '@belfry/contract/callback'
import type { Task } from '@belfry/contract/task'
import { missedReason, type NewTask } from '@belfry/db/tasks/insert-tasks'
import type { StoredRequest } from '@belfry/db/tasks/stored-request'
import { toId } from '@belfry/domain/id'
import { mcpEvent } from './mcp-event.ts'
import { RawJson } from './raw-json.ts'
import type { LastRunRow, TaskRow } from './task-row.ts'

/** Returns the public form of a task whose payload is text. */
export function taskForm(row: TaskRow): Task {
  return present(row, {
    cronjob_id: row.cronJobId && toId('cron', row.cronJobId),
    updated_by: row.updatedBy,
    callback_of: row.callbackOf && toId('task', row.callbackOf),
    state: row.state,
    state_reason: row.stateReason,
    attempts: row.attempts,
    execute_at: row.executeAt.toISOString(),
    expires_at: row.expiresAt?.toISOString() ?? null,
    next_retry_at: row.state === 'retrying' ? row.dueAt.toISOString() : null,
    last_run: presentLastRun(row),
    blocked: presentBlocked(row),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  })
}

function presentBlocked({ waitsFor, queue, finishedAt }: TaskRow): Task['blocked'] {
  if (finishedAt !== null) return null
  if (waitsFor === 2) return { reason: 'held' }
  return waitsFor === 1 && queue ? { reason: 'queue', queue } : null
}

/**
 * Returns the public form of a task that was just stored, as a later read would return it.
 * @param createdAt - A timestamp, or the mark for one.
 */
export function presentNewTask(task: NewTask, createdAt: string): Task {
  const at = task.executeAt?.toISOString() ?? createdAt
  const payload = task.isReport ? mcpEvent(task.payload ?? '', task.id, at) : task.payload
  return present(payload === task.payload ? task : Object.assign({}, task, { payload }), {
    cronjob_id: null,
    updated_by: null,
    callback_of: null,
    expires_at: deadlineOf(task, createdAt),
    execute_at: at,
    state: task.isMissed ? 'dead' : 'pending',
    state_reason: task.isMissed ? missedReason : null,
    attempts: 0,
    next_retry_at: null,
    last_run: null,
    blocked: null,
    created_at: createdAt,
    updated_at: createdAt,
    finished_at: task.isMissed ? createdAt : null,
  })
}

function deadlineOf({ expiresAt, maxAgeMs, executeAt }: NewTask, createdAt: string): string | null {
  if (expiresAt) return expiresAt.toISOString()
  if (!maxAgeMs) return null
  return new Date((executeAt?.getTime() ?? Date.parse(createdAt)) + maxAgeMs).toISOString()
}

type Presentable = Omit<NewTask, 'executeAt' | 'expiresAt'>
type Progress = Pick<Task, 'cronjob_id' | 'execute_at' | 'state' | 'state_reason' | 'attempts' | 'blocked'> &
  Pick<Task, 'expires_at' | 'next_retry_at' | 'last_run' | 'callback_of' | 'updated_by'> &
  Pick<Task, 'created_at' | 'updated_at' | 'finished_at'>

function present(task: Presentable, progress: Progress): Task {
  const body = presentBody(task)
  const callbacks = presentCallbacks(task.callbacks)
  return {
    id: toId('task', task.id),
    workspace_id: toId('ws', task.workspaceId),
    name: task.name,
    source: task.source,
    cronjob_id: progress.cronjob_id,
    event_id: task.eventId && toId('evt', task.eventId),
    topic: task.topic,
    url: task.url,
    method: task.method,
    headers: JSON.parse(task.headers),
    payload: body.payload,
    payload_base64: body.payload_base64,
    content_type: body.content_type,
    queue: task.queue ?? null,
    connection: task.connection ?? null,
    execute_at: progress.execute_at,
    state: progress.state,
    state_reason: progress.state_reason,
    attempts: progress.attempts,
    blocked: progress.blocked,
    retry: presentRetry(task),
    timeout_ms: task.timeoutMs,
    on_success: callbacks.on_success,
    on_failure: callbacks.on_failure,
    on_attempt: callbacks.on_attempt,
    expires_at: progress.expires_at,
    key: task.key ?? null,
    labels: [...(task.labels ?? [])],
    next_retry_at: progress.next_retry_at,
    last_run: progress.last_run,
    callback_of: progress.callback_of,
    replay_of: task.replayOf && toId('task', task.replayOf),
    created_by: task.createdBy ?? null,
    updated_by: progress.updated_by,
    created_at: progress.created_at,
    updated_at: progress.updated_at,
    finished_at: progress.finished_at,
  }
}

export function presentBody({ payload, contentType = null }: Pick<StoredRequest, 'payload' | 'contentType'>) {
  if (contentType !== null) return { payload: null, payload_base64: payload, content_type: contentType }
  return { payload: payload === null ? null : new RawJson(payload), payload_base64: null, content_type: null }
}

export function presentRetry(
  row: Pick<StoredRequest, 'maxRetries' | 'backoff' | 'baseDelayMs' | 'maxDelayMs' | 'retryDelays'>,
): Task['retry'] {
  if (row.retryDelays != null) return { delays_ms: JSON.parse(row.retryDelays) }
  return {
    max_retries: row.maxRetries,
    backoff: row.backoff,
    base_delay_ms: row.baseDelayMs,
    max_delay_ms: row.maxDelayMs,
  }
}

export function presentCallbacks(stored: string | null | undefined): Record<CallbackEvent, Callback | null> {
  return stored ? Object.assign({}, noCallbacks, JSON.parse(stored)) : noCallbacks
}

const noCallbacks = { on_success: null, on_failure: null, on_attempt: null }

export function presentLastRun(row: LastRunRow): Task['last_run'] {
  if (row.lastRunId === null || row.lastRunStatus === null || row.lastRunFinishedAt === null) return null
  return {
    id: toId('run', row.lastRunId),
    status: row.lastRunStatus,
    response_status: row.lastRunResponseStatus,
    error_code: row.lastRunErrorCode,
    finished_at: row.lastRunFinishedAt.toISOString(),
  }
}
