import type { Run, Task } from '@belfry/contract'

export type HistoryEvent = {
  at: string
  text: string
  tone: 'plain' | 'good' | 'bad' | 'ahead'
  /** The attempt that it is about. */
  runId?: string
}

const reasons: Readonly<Record<string, string>> = {
  user: 'Cancelled by a user',
  monthly_execution_limit: 'Cancelled: the month’s executions were used up',
  storage_quota: 'Cancelled: the storage was used up',
  cronjob_paused: 'Cancelled: its cron job was paused',
  cronjob_changed: 'Cancelled: its cron job was changed',
  cronjob_deleted: 'Cancelled: its cron job was deleted',
  workspace_deleted: 'Cancelled: the workspace was deleted',
  overlap_skipped: 'Left out: the occurrence before it had not finished',
  missed: 'Left out: it was missed while nothing ran',
}

/** What has happened to a task, oldest first, and what comes next. `runs` are those that were read, in any order. */
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
  if (source === 'cron') return 'Created for a cron job'
  return source === 'event' ? `Created by an event${topic ? ` of ${topic}` : ''}` : 'Created'
}

function attemptEvent({ attempt, status, started_at, response_status, error, id }: Run): HistoryEvent {
  const outcome = status === 'success' ? `was answered ${response_status ?? 'well'}` : `failed: ${error?.message ?? ''}`
  return {
    at: started_at,
    text: `Attempt ${attempt} ${outcome}`,
    tone: status === 'success' ? 'good' : 'bad',
    runId: id,
  }
}

function endOf({ state, state_reason, finished_at }: Task): HistoryEvent[] {
  if (finished_at === null) return []
  if (state === 'success') return [{ at: finished_at, text: 'Done', tone: 'good' }]
  if (state === 'dead') return [{ at: finished_at, text: 'Dead: it is not tried again by itself', tone: 'bad' }]
  return [{ at: finished_at, text: reasons[state_reason ?? ''] ?? 'Cancelled', tone: 'plain' }]
}

function nextOf({ state, execute_at, next_retry_at, attempts }: Task): HistoryEvent[] {
  if (state === 'pending') return [{ at: execute_at, text: 'First attempt is due', tone: 'ahead' }]
  if (state === 'retrying' && next_retry_at)
    return [{ at: next_retry_at, text: `Attempt ${attempts + 1} is due`, tone: 'ahead' }]
  return []
}
