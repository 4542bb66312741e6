import { leaveDispatchers, recoverStrays as recover } from '@belfry/db/dispatchers/end-dispatcher'
import type { LostAttempt } from '@belfry/db/tasks/lose-attempts'
import { toId } from '@belfry/domain/id'
import type { Loop } from '@belfry/runtime'
import type { Context } from './context.ts'

/**
 * Returns the loop that shows every second that this process lives.
 * @param onLive - Receives the ids of the live dispatchers. Optional.
 */
export function heartbeat(ctx: Context, onLive: (live: string[]) => void = () => {}): Loop {
  return {
    intervalMs: 1_000,
    async run() {
      ctx.served.wake()
      try {
        onLive(await ctx.fence.prove(() => ctx.dispatcher.beat(ctx.journal.open, !ctx.stop.aborted)))
      } finally {
        ctx.served.rest()
      }
    },
    onError: error => ctx.log.warn({ err: error }, 'heartbeat.failed'),
  }
}

/**
 * Ends the claims that PostgreSQL has for this process and that it does not hold. Otherwise they would stay until this
 * process dies. An abandoned claim is undone. Any other one may have been sent, so its attempt is lost: a failover lost
 * its record, or it could not be written.
 * @returns How many claims there were.
 */
export async function recoverStrays(ctx: Context): Promise<number> {
  const { undone, lost } = await recover(ctx.pool, ctx.dispatcher.id, ctx.held.has, ctx.held.isAbandoned)
  if (undone.length + lost.length > 0) ctx.log.warn({ undone: undone.length, lost: lost.length }, 'claims.recovered')
  reportDropped(ctx, lost)
  return undone.length + lost.length
}

/** Undoes the claims that this process has not sent. Without this a scheduler would do so seconds later. */
export async function leave(ctx: Context): Promise<void> {
  try {
    const { undone, lost } = await leaveDispatchers(ctx.pool, ctx.dispatcher.id, ctx.held.isAbandoned)
    if (undone.length > 0) ctx.log.info({ tasks: undone.length }, 'claims.undone')
    reportDropped(ctx, lost)
  } catch (error) {
    ctx.log.warn({ err: error }, 'dispatcher.left_without_notice')
  }
}

function reportDropped({ log }: Context, lost: readonly LostAttempt[]): void {
  for (const { taskId, refusal } of lost) {
    if (refusal !== null) log.error({ task: toId('task', taskId), reason: refusal }, 'callbacks.dropped')
  }
}
