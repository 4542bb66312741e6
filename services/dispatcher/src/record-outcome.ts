import { setTimeout as sleep } from 'node:timers/promises'
import type { FinishedAttempt, RecordedAttempt } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from './context.ts'

const firstPauseMs = 250
const maxPauseMs = 60_000

/**
 * Records an attempt. A record that PostgreSQL refuses is offered again without what was sent and received, until it is
 * accepted: while this process lives, nothing else ends the attempt.
 * @returns Null when the attempt was ended by another process.
 */
export async function recordOutcome(
  ctx: Pick<Context, 'record' | 'log' | 'stop'>,
  attempt: FinishedAttempt,
): Promise<RecordedAttempt | null> {
  try {
    return await ctx.record(attempt)
  } catch (error) {
    logRefusal(ctx, attempt, error)
  }
  const reduced = withoutContent(attempt)
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await ctx.record(reduced)
    } catch (error) {
      logRefusal(ctx, attempt, error)
      if (ctx.stop.aborted) throw error
    }
    await sleep(pauseMs, null, { signal: ctx.stop }).catch(() => {}) // when it is to stop, it tries once more
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

// The error itself quotes the row, and with it what the target sent.
function logRefusal({ log }: Pick<Context, 'log'>, attempt: FinishedAttempt, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error)
  log.error({ task: toId('task', attempt.taskId), run: toId('run', attempt.runId), reason }, 'record.refused')
}
