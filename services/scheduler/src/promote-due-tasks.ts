import { randomUUID } from 'node:crypto'
import { type PromotionTurn, type WaitingRow, withPromotion } from '@belfry/db'
import { toId } from '@belfry/domain'
import { type DueTask, lookAheadMs } from '@belfry/queue'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'

// Work that came due shortly before the queue was lost is added again too.
const lostQueueMarginMs = 60_000

/**
 * Hands the waiting work that falls due within the look-ahead to the queue, each window of time once; what is due in the
 * same second shares jobs. The queue's store
 * holds a marker that changes with every turn: when it is not the one that PostgreSQL remembers, the store came back
 * empty or old, and all that should be in it is handed over again.
 * @returns How many tasks were handed over.
 */
export async function promoteDueTasks(ctx: Context): Promise<number> {
  let promoted = 0
  await withPromotion(ctx.pool, async turn => {
    await failpoint('scheduler.before_promote')
    const until = new Date(turn.now.getTime() + lookAheadMs)
    for await (const page of turn.waiting(await startOf(ctx, turn), until)) {
      await ctx.queue.schedule(page.map(toDueTask), turn.now.getTime())
      promoted += page.length
    }
    const marker = randomUUID()
    await ctx.queue.writeMarker(marker)
    await failpoint('scheduler.promoted')
    return { watermark: until, marker }
  })
  ctx.metrics.promoted(promoted)
  return promoted
}

export function toDueTask({ id, dueAt, workspaceId, origin }: WaitingRow): DueTask {
  return { id: toId('task', id), dueAt: dueAt.getTime(), workspace: toId('ws', workspaceId), origin }
}

async function startOf(ctx: Context, turn: PromotionTurn): Promise<Date> {
  if (!ctx.queue.isVolatile || (await ctx.queue.readMarker()) === turn.marker) return turn.watermark
  if (turn.marker !== '') {
    // The very first turn has lost nothing.
    ctx.log.warn('queue.lost')
    ctx.metrics.queueLost()
  }
  return new Date(Math.min(turn.watermark.getTime(), turn.now.getTime() - lostQueueMarginMs))
}
