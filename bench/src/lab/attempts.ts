import type { Claim, ClaimedTask, FinishedAttempt, NewTask } from '@belfry/db'
import { newUuid } from '@belfry/domain'
import { payload } from './tasks.ts'

/** Returns batches of new tasks of some workspaces, one after another. */
export function newTasks(
  workspaceIds: readonly string[],
  executeAt: () => Date | null,
  { batches, batch }: { batches: number; batch: number },
): NewTask[][] {
  return Array.from({ length: batches }, () =>
    Array.from({ length: batch }, (_, i) => ({
      id: newUuid(),
      workspaceId: workspaceIds[i % workspaceIds.length] ?? '',
      source: 'task' as const,
      executeAt: executeAt(),
      name: 'Bench',
      url: 'http://127.0.0.1:9/',
      method: 'POST' as const,
      headers: '{}',
      payload,
      maxRetries: 3,
      backoff: 'exponential' as const,
      baseDelayMs: 1_000,
      maxDelayMs: 3_600_000,
      timeoutMs: 30_000,
      topic: null,
      eventId: null,
      replayOf: null,
    })),
  )
}

/** Returns the task of a claim, if it has one. */
export const taskOf = (claim: Claim): ClaimedTask[] => (claim.kind === 'claimed' ? [claim.task] : [])

/** Returns the outcome of an attempt that was answered with 200. */
export function toSuccess({ taskId, runId, scheduledAt, claimedAt }: ClaimedTask): FinishedAttempt {
  return {
    taskId,
    runId,
    state: 'success',
    retryDelayMs: null,
    status: 'success',
    scheduledAt,
    startedAt: claimedAt,
    finishedAt: new Date(),
    requestHeaders: '{"user-agent":"Belfry"}',
    responseStatus: 200,
    responseHeaders: '{}',
    responseBody: Buffer.from('ok'),
    responseBytes: 2,
    responseTruncated: false,
    errorCode: null,
    errorMessage: null,
  }
}
