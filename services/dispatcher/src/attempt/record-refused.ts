import { setTimeout as sleep } from 'node:timers/promises'
import { dropCallbacks } from '@belfry/db/tasks/drop-callbacks'
import type { FinishedAttempt, RecordedAttempt } from '@belfry/db/tasks/record-attempts'
import { toId } from '@belfry/domain/id'
import type { Context } from '../context.ts'

const firstPauseMs = 250
const maxPauseMs = 60_000

/**
 * Records an attempt whose record PostgreSQL has refused: without the request and the response, and then without the
 * callbacks of the task, until it is accepted. Otherwise the claim would stay until this process dies.
 * @param reason - Why it was refused.
 * @returns Null when another process has ended the attempt.
 */
export async function recordRefused(
  ctx: Context,
  attempt: FinishedAttempt,
  reason: unknown,
): Promise<RecordedAttempt | null> {
  logRefusal(ctx, attempt, reason)
  const reduced = withoutContent(attempt)
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await new Promise((onRecorded, onRefused) => {
        ctx.batches.record.push({ finished: reduced, queueId: null, onRecorded, onRefused })
      })
    } catch (error) {
      logRefusal(ctx, attempt, error)
      if (ctx.stop.aborted) throw error
      if (await dropCallbacks(ctx.pool, attempt).catch(() => false))
        logRefusal(ctx, attempt, error, 'callbacks.dropped')
    }
    await sleep(pauseMs, null, { signal: ctx.stop }).catch(() => {}) // one more try when the process is to stop
  }
}

function withoutContent(attempt: FinishedAttempt): FinishedAttempt {
  return Object.assign({}, attempt, {
    requestHeaders: '{}',
    responseHeaders: attempt.responseHeaders && '{}',
    responseBody: attempt.responseBody && Buffer.alloc(0),
    responseTruncated: attempt.responseTruncated || attempt.responseBody !== null,
    errorMessage: attempt.errorCode && 'The database refused the full record of this attempt.',
  })
}

// Logs the message only: the error itself quotes the row with the target's response.
function logRefusal({ log }: Context, attempt: FinishedAttempt, error: unknown, event = 'record.refused'): void {
  const reason = error instanceof Error ? error.message : String(error)
  log.error({ task: toId('task', attempt.taskId), run: toId('run', attempt.runId), reason }, event)
}
