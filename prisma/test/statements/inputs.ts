import { NIL_UUID } from '@belfry/domain/id'
import type { KeyedRequest } from '../../src/answer-once.ts'
import type { CronJobCursor } from '../../src/cron-jobs/cron-job.ts'
import type { TaskChange } from '../../src/tasks/change-task.ts'
import type { ClaimRequest } from '../../src/tasks/claimed-row.ts'
import type { NewTask } from '../../src/tasks/insert-tasks.ts'
import type { FinishedAttempt } from '../../src/tasks/record-attempts.ts'
import { requestColumnOf, type StoredRequest } from '../../src/tasks/stored-request.ts'

// Values for the functions whose statements are recorded. Only their shape matters.
export const id = NIL_UUID
export const now = new Date(0)
export const hourMs = 3_600_000

export const task: NewTask = {
  ...{
    id,
    workspaceId: id,
    source: 'task',
    executeAt: null,
    name: '',
    url: '',
    method: '',
    headers: '',
    payload: null,
  },
  ...{ maxRetries: 0, backoff: 'fixed', baseDelayMs: 0, maxDelayMs: 0, timeoutMs: 0 },
  ...{ topic: null, eventId: null, replayOf: null },
}

export const everyField: Required<TaskChange> = {
  ...(requestColumnOf as unknown as Required<StoredRequest>), // texts in place of all values
  ...{ name: '', qstash: null, executeAt: now, expiresAt: now, labels: [], updatedBy: '' },
}

export const request: KeyedRequest = { workspaceId: id, key: '', hash: new Uint8Array() }
export const answer = { status: 201, location: null, answer: '' }

export const claimant = { dispatcherId: id }
export const toClaim: ClaimRequest[] = [
  { taskId: id, token: id },
  { taskId: id.replace('0', '1'), token: id, isQueued: true },
]

export const attempt: FinishedAttempt = {
  ...{ taskId: id, runId: id, state: 'success', retryDelayMs: null, status: 'success' },
  ...{ scheduledAt: now, startedAt: now, finishedAt: now, requestHeaders: '' },
  ...{ responseStatus: null, responseHeaders: null, responseBody: null, responseBytes: null, responseTruncated: false },
  ...{ errorCode: null, errorMessage: null },
}

export const cronJob: CronJobCursor = {
  ...{ id, cron: '0 0 * * *', timezone: 'UTC', startsAt: null, endsAt: null, catchUp: 'all' },
  ...{ pausedAt: null, nextRunAt: new Date(24 * hourMs), qstash: null, bytes: 100 },
}
export const clock = { 'SELECT clock_timestamp() AS now': [{ now: new Date(24 * hourMs) }] }
export const lockedCronJob = {
  ...clock,
  'AND workspace_id = $2 FOR UPDATE': [{ ...cronJob, nextRunAt: null, name: '', queues: [] }],
}
