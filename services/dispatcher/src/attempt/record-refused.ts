import { setTimeout as sleep } from 'node:timers/promises'
import { dropCallbacks } from '@belfry/db/tasks/drop-callbacks'
import type { FinishedAttempt, RecordedAttempt } from '@belfry/db/tasks/record-attempts'
import { toId } from '@belfry/domain/id'
import { recordAttempt } from '../statements/batched-statements.ts'
import type { AttemptContext } from './attempt-context.ts'

const firstPauseMs = 250
const maxPauseMs = 60_000

/**
 * Records an attempt whose record PostgreSQL has refused: without the request and the response, and then without the
 * callbacks of the task, until it is accepted. While this process lives, nothing else ends the attempt.
 * @param reason - Why it was refused.
 * @returns Null when another process has ended the attempt.
 */
export async function recordRefused(
  ctx: AttemptContext,
  attempt: FinishedAttempt,
  reason: unknown,
): Promise<RecordedAttempt | null> {
  logRefusal(ctx, attempt, reason)
  const reduced = withoutContent(attempt)
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await recordAttempt(ctx, reduced)
    } catch (error) {
      logRefusal(ctx, attempt, error)
      if (ctx.stop.aborted) throw error
      await dropCallbacksOf(ctx, attempt, error)
    }
    await sleep(pauseMs, null, { signal: ctx.stop }).catch(() => {}) // one more try when the process is to stop
  }
}

function withoutContent(attempt: FinishedAttempt): FinishedAttempt {
  return {
    ...attempt,
    requestHeaders: '{}',
    responseHeaders: attempt.responseHeaders && '{}',
    responseBody: attempt.responseBody && Buffer.alloc(0),
    responseTruncated: attempt.responseTruncated || attempt.responseBody !== null,
    errorMessage: attempt.errorCode && 'The database refused the full record of this attempt.',
  }
}

async function dropCallbacksOf(ctx: AttemptContext, attempt: FinishedAttempt, cause: unknown): Promise<void> {
  const isDropped = await dropCallbacks(ctx.pool, attempt).catch(() => false) // the next refusal tries again
  if (isDropped) ctx.log.error({ ...idsOf(attempt), reason: reasonOf(cause) }, 'callbacks.dropped')
}

// The error itself quotes the row, which holds what the target sent.
function logRefusal({ log }: AttemptContext, attempt: FinishedAttempt, error: unknown): void {
  log.error({ ...idsOf(attempt), reason: reasonOf(error) }, 'record.refused')
}

function idsOf({ taskId, runId }: FinishedAttempt) {
  return { task: toId('task', taskId), run: toId('run', runId) }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
