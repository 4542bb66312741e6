import type { Task } from '@belfry/contract'
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
