import type { Task } from '@belfry/contract'
import type { NewTask } from '@belfry/db'
import { toId } from '@belfry/domain'
import { RawJson } from '../http/json.ts'
import type { TaskRow } from './task-row.ts'

/** The public form of a task. */
export function presentTask(row: TaskRow): Task {
  return {
    id: toId('task', row.id),
    workspace_id: toId('ws', row.workspaceId),
    name: row.name,
    source: row.source,
    cronjob_id: row.cronJobId && toId('cron', row.cronJobId),
    event_id: row.eventId && toId('evt', row.eventId),
    topic: row.topic,
    url: row.url,
    method: row.method,
    headers: JSON.parse(row.headers),
    payload: row.payload === null ? null : new RawJson(row.payload),
    execute_at: row.executeAt.toISOString(),
    state: row.state,
    state_reason: row.stateReason,
    attempts: row.attempts,
    retry: {
      max_retries: row.maxRetries,
      backoff: row.backoff,
      base_delay_ms: row.baseDelayMs,
      max_delay_ms: row.maxDelayMs,
    },
    timeout_ms: row.timeoutMs,
    next_retry_at: row.state === 'retrying' ? row.dueAt.toISOString() : null,
    last_run: presentLastRun(row),
    replay_of: row.replayOf && toId('task', row.replayOf),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

/** The public form of a task that has just been stored, as it would be read. `createdAt` is a timestamp. */
export function presentNewTask(task: NewTask, createdAt: string): Task {
  return {
    id: toId('task', task.id),
    workspace_id: toId('ws', task.workspaceId),
    name: task.name,
    source: task.source,
    cronjob_id: null,
    event_id: task.eventId && toId('evt', task.eventId),
    topic: task.topic,
    url: task.url,
    method: task.method,
    headers: JSON.parse(task.headers),
    payload: task.payload === null ? null : new RawJson(task.payload),
    execute_at: task.executeAt?.toISOString() ?? createdAt,
    state: 'pending',
    state_reason: null,
    attempts: 0,
    retry: {
      max_retries: task.maxRetries,
      backoff: task.backoff,
      base_delay_ms: task.baseDelayMs,
      max_delay_ms: task.maxDelayMs,
    },
    timeout_ms: task.timeoutMs,
    next_retry_at: null,
    last_run: null,
    replay_of: task.replayOf && toId('task', task.replayOf),
    created_at: createdAt,
    updated_at: createdAt,
    finished_at: null,
  }
}

function presentLastRun(row: TaskRow): Task['last_run'] {
  if (row.lastRunId === null || row.lastRunStatus === null || row.lastRunFinishedAt === null) return null
  return {
    id: toId('run', row.lastRunId),
    status: row.lastRunStatus,
    response_status: row.lastRunResponseStatus,
    error_code: row.lastRunErrorCode,
    finished_at: row.lastRunFinishedAt.toISOString(),
  }
}
