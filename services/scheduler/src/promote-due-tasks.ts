import { randomUUID } from 'node:crypto'
import { type PromotionRound, toDueTask, type WaitingRow, withPromotion } from '@belfry/db'
import { countOfWholeCohorts, type DueTask, lookAheadMs } from '@belfry/queue'
import { failpoint } from '@belfry/runtime'
import type { QueueContext } from './context.ts'

// Work that came due shortly before the queue was lost is added again too.
const lostQueueMarginMs = 60_000

/**
 * Promotes the waiting work that falls due within the look-ahead to the queue, each window of time once. What is due in
 * the same second shares jobs. The queue's store holds a marker that changes with every round. When it is not the one that
 * PostgreSQL remembers, the store came back empty or old, and all that should be in it is promoted again.
 *
 * That starts a minute back, and the start is stored before the first job is added. A round that fails halfway therefore
 * starts from the same instant the next time, and makes the same jobs again, which the store refuses.
 * @returns How many tasks were promoted.
 */
export async function promoteDueTasks(ctx: QueueContext): Promise<number> {
  let promoted = 0
  let isRewound = false
  await withPromotion(ctx.pool, async turn => {
    await failpoint('scheduler.before_promote')
    const start = await startOf(ctx, turn)
    isRewound = start < turn.watermark
    if (isRewound) return { watermark: start, marker: turn.marker }
    const until = new Date(turn.now.getTime() + lookAheadMs)
    for await (const tasks of wholeCohorts(turn.waiting(start, until))) {
      await ctx.queue.schedule(tasks, turn.now.getTime())
      promoted += tasks.length
    }
    const marker = randomUUID()
    await ctx.queue.writeMarker(marker)
    await failpoint('scheduler.promoted')
    return { watermark: until, marker }
  })
  ctx.metrics.promoted(promoted)
  return isRewound ? promoteDueTasks(ctx) : promoted
}

// Where the pages end depends on what has been claimed meanwhile. The tasks of the last, incomplete job of a page wait for
// the next page, so the same tasks make the same jobs wherever the reading starts.
async function* wholeCohorts(pages: AsyncIterable<WaitingRow[]>): AsyncIterable<DueTask[]> {
  let rest: DueTask[] = []
  for await (const page of pages) {
    const tasks = [...rest, ...page.map(toDueTask)]
    const whole = countOfWholeCohorts(tasks)
    rest = tasks.slice(whole)
    if (whole > 0) yield tasks.slice(0, whole)
  }
  if (rest.length > 0) yield rest
}

async function startOf(ctx: QueueContext, turn: PromotionRound): Promise<Date> {
  if ((await ctx.queue.readMarker()) === turn.marker) return turn.watermark
  const start = new Date(Math.min(turn.watermark.getTime(), turn.now.getTime() - lostQueueMarginMs))
  if (turn.marker !== '' && start < turn.watermark) {
    // The very first round has lost nothing.
    ctx.log.warn('queue.lost')
    ctx.metrics.queueLost()
  }
  return start
}
