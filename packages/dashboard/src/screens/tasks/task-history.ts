import type { Run } from '@belfry/contract/run'
import type { Task } from '@belfry/contract/task'
import type { StateReason } from '@belfry/domain/task-state'

export type HistoryEvent = {
  at: string
  text: string
  tone: 'plain' | 'good' | 'bad' | 'upcoming'
  /** The run of the attempt, for a link. */
  runId?: string
}

/** Why a task ended without the outcome of a run. */
export const reasons: Readonly<Record<StateReason, string>> = {
  user: 'Cancelled by a user',
  monthly_execution_limit: 'Cancelled: monthly execution limit reached',
  storage_quota: 'Cancelled: storage quota reached',
  cronjob_paused: 'Cancelled: cron job paused',
  cronjob_changed: 'Cancelled: cron job changed',
  cronjob_deleted: 'Cancelled: cron job deleted',
  workspace_deleted: 'Cancelled: workspace deleted',
  overlap_skipped: 'Skipped: the previous occurrence had not finished',
  missed: 'Skipped: missed while Belfry was not running',
  subscription_off: 'Not sent: the subscription was switched off',
  subscription_deleted: 'Cancelled: subscription deleted',
  expired: 'Dead: the deadline passed',
  stopped: 'Dead: stopped by a user',
}

/** Returns what has happened to a task, oldest first, and what comes next. `runs` may be in any order. */
export function historyOf(task: Task, runs: readonly Run[]): HistoryEvent[] {
  const attempts = [...runs].sort((a, b) => a.attempt - b.attempt)
  return [
    { at: task.created_at, text: createdText(task), tone: 'plain' },
    ...attempts.map(attemptEvent),
    ...endOf(task),
    ...nextOf(task),
  ]
}

function createdText({ source, replay_of, topic }: Task): string {
  if (replay_of) return 'Created by a replay'
  if (source === 'cron') return 'Created by a cron job'
  if (source === 'callback') return 'Created by a callback'
  return source === 'event' ? `Created by an event${topic ? ` of ${topic}` : ''}` : 'Created'
}

function attemptEvent({ attempt, status, started_at, response_status, error, id }: Run): HistoryEvent {
  const outcome =
    status === 'success' ? `succeeded with ${response_status ?? 'no status'}` : `failed: ${error?.message ?? ''}`
  return {
    at: started_at,
    text: `Run ${attempt} ${outcome}`,
    tone: status === 'success' ? 'good' : 'bad',
    runId: id,
  }
}

function endOf({ state, state_reason, finished_at }: Task): HistoryEvent[] {
  if (finished_at === null) return []
  if (state === 'success') return [{ at: finished_at, text: 'Completed', tone: 'good' }]
  const reason = state_reason && reasons[state_reason]
  if (state === 'dead') return [{ at: finished_at, text: reason ?? 'Dead: no further retries', tone: 'bad' }]
  return [{ at: finished_at, text: reason ?? 'Cancelled', tone: 'plain' }]
}

function nextOf({ state, execute_at, next_retry_at, attempts }: Task): HistoryEvent[] {
  if (state === 'pending') return [{ at: execute_at, text: 'First run due', tone: 'upcoming' }]
  if (state === 'retrying' && next_retry_at)
    return [{ at: next_retry_at, text: `Run ${attempts + 1} due`, tone: 'upcoming' }]
  return []
}
