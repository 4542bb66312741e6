import { endDispatcher, expireLeases, type LostAttempt, readHeartbeats } from '@belfry/db'
import { toId } from '@belfry/domain'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'

const batchSize = 500

/**
 * Ends dispatchers that have no heartbeat any more: see `endDispatcher`. What they had not sent is pending again.
 * What they had sent waits in quarantine or, when it was lost alone too often, is a dead letter.
 * @returns How many attempts were lost.
 */
export async function rescueLostAttempts(ctx: Context): Promise<number> {
  let total = 0
  for (const id of ctx.liveness.observe(await readHeartbeats(ctx.pool))) {
    const { undone, lost } = await endDispatcher(ctx.pool, id)
    ctx.log.warn({ dispatcher: id, lost: lost.length, undone: undone.length }, 'dispatcher.lost')
    ctx.metrics.dispatcherLost()
    await reportLost(ctx, lost)
    total += lost.length
  }
  return total
}

/**
 * Ends the attempts of dispatchers of the previous release whose lease is over.
 * @returns How many there were.
 */
export async function rescueUnownedAttempts(ctx: Context, signal: AbortSignal): Promise<number> {
  for (let total = 0; ; ) {
    const lost = await expireLeases(ctx.pool, batchSize)
    await reportLost(ctx, lost)
    total += lost.length
    if (lost.length < batchSize || signal.aborted) return total
  }
}

async function reportLost(ctx: Context, lost: readonly LostAttempt[]): Promise<void> {
  if (lost.length === 0) return
  await failpoint('scheduler.expired')
  ctx.metrics.attemptsLost(lost.length)
  for (const { taskId, workspaceId, attempts, state } of lost) {
    const ids = { task: toId('task', taskId), workspace: toId('ws', workspaceId) }
    ctx.log.warn({ ...ids, attempt: attempts, state }, 'attempt.worker_lost')
    if (state !== 'dead') continue
    const error = 'Its dispatcher was lost three times while nothing else was in flight.'
    await ctx.deadLetters
      ?.add({ ...ids, attempts, error })
      .catch(reason => ctx.log.warn({ err: reason, task: ids.task }, 'dead_letter.not_shown'))
  }
}
