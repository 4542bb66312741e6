import { endDispatcher } from '@belfry/db/dispatchers/end-dispatcher'
import { readHeartbeats } from '@belfry/db/dispatchers/heartbeat'
import { isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import { advanceQueuesOf } from '@belfry/db/queues/advance-queues'
import type { LostAttempt } from '@belfry/db/tasks/lose-attempts'
import { toId } from '@belfry/domain/id'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'

/**
 * Ends dispatchers that no longer have a heartbeat; see `endDispatcher`. Tasks whose request had not been sent become
 * pending again. The others wait in quarantine, or become dead letters when they were lost alone too often. A dispatcher that
 * cannot be ended does not keep the others from it.
 * @returns How many attempts were lost.
 */
export async function rescueLostAttempts(ctx: Context): Promise<number> {
  let total = 0
  let failure: unknown
  for (const { id, beats } of ctx.liveness.observe(await readHeartbeats(ctx.pool))) {
    try {
      const { undone, lost, isEnded } = await endDispatcher(ctx.pool, id, beats)
      if (!isEnded) continue
      ctx.log.warn({ dispatcher: id, lost: lost.length, undone: undone.length }, 'dispatcher.lost')
      ctx.metrics.dispatcherLost()
      const ids = [...undone, ...lost].map(({ taskId }) => taskId)
      await advanceQueuesOf(ctx.pool, ids) // their permits are free
      await reportLost(ctx, lost)
      total += lost.length
    } catch (error) {
      if (isTransientDatabaseError(error)) throw error
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
  return total
}

async function reportLost(ctx: Context, lost: readonly LostAttempt[]): Promise<void> {
  if (lost.length === 0) return
  if (__FAILPOINTS__) await failpoint('scheduler.expired')
  ctx.metrics.attemptsLost(lost.length)
  for (const { taskId, workspaceId, attempts, state, refusal } of lost) {
    const ids = { task: toId('task', taskId), workspace: toId('ws', workspaceId) }
    ctx.log.warn({ ...ids, attempt: attempts, state }, 'attempt.worker_lost')
    if (refusal !== null) ctx.log.error({ ...ids, reason: refusal }, 'callbacks.dropped')
  }
}
