import { retryDatabase } from '@belfry/db/postgres/retry-database'
import type { ClaimedTask } from '@belfry/db/tasks/claimed-row'
import { scheduleOrStepBack } from '@belfry/db/tasks/due-work'
import type { RecordedAttempt } from '@belfry/db/tasks/record-attempts'
import { undoClaims } from '@belfry/db/tasks/undo-claims'
import { toId } from '@belfry/domain/id'
import { type DueTask, needsJob } from '@belfry/queue'
import { failpoint } from '@belfry/runtime'
import type { Context } from '../context.ts'
import type { UnsentOutcome } from '../egress/outcome.ts'
import type { AttemptIds } from './build-request.ts'

/** Adds the job of a retry after a recorded attempt. */
export async function followUp(
  ctx: Context,
  { task, workspace }: AttemptIds,
  { dueAt, now }: Extract<RecordedAttempt, { dueAt: Date }>,
): Promise<void> {
  if (__FAILPOINTS__) await failpoint('dispatcher.retry_recorded')
  await enqueueDue(ctx, [{ id: task, dueAt: dueAt.getTime(), workspace }], now.getTime())
}

const minDelayMs = 2_500
const maxDelayMs = 7_500

/**
 * Undoes the claim of an attempt that could not start. Unless the outcome says until when it cannot, the task is due again some
 * seconds later, for any dispatcher.
 */
export async function undoUnsentAttempt(ctx: Context, task: ClaimedTask, { message, until }: UnsentOutcome) {
  const { taskId, workspaceId, runId, queueId } = task
  const id = toId('task', taskId)
  const delayMs = Math.round(minDelayMs + Math.random() * (maxDelayMs - minDelayMs))
  const isDeferred = until !== undefined
  if (isDeferred) ctx.log.info({ task: id, reason: message }, 'attempt.deferred')
  else {
    ctx.metrics.attemptUndone()
    ctx.log.error({ task: id, reason: message }, 'attempt.undone')
  }
  const [waiting = null] = await undoClaimsDurably(ctx, [
    { taskId, workspaceId, runId, ...(isDeferred ? {} : { delayMs }) },
  ])
  if (queueId !== null) ctx.batches.advance(queueId)
  if (waiting && !isDeferred) await enqueueDue(ctx, [{ id, dueAt: waiting.dueAt.getTime() }], waiting.now.getTime())
}

/** Undoes claims as `undoClaims` does. Waits while the database is away. */
export function undoClaimsDurably({ log, pool }: Context, claims: Parameters<typeof undoClaims>[1]) {
  const onWait = (error: unknown) => log.warn({ err: error, runs: claims.length }, 'undo.waiting_for_database')
  return retryDatabase(() => undoClaims(pool, claims), { onWait })
}

/** Adds jobs for the tasks that are due soon. Never rejects: PostgreSQL has the tasks, and the scheduler adds lost jobs. */
export async function enqueueDue({ queue, pool, log, metrics }: Context, tasks: DueTask[], now: number): Promise<void> {
  const soon = tasks.filter(task => needsJob(task.dueAt, now))
  if (queue === null || soon.length === 0) return
  const onFailure = (error: unknown) => {
    log.warn({ err: error }, 'queue.away')
    metrics.queueAway()
  }
  await scheduleOrStepBack(pool, () => queue.schedule(soon, now), onFailure).catch(error =>
    log.warn({ err: error }, 'promotion.not_stepped_back'),
  )
}
