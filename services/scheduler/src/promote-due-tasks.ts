import { randomUUID } from 'node:crypto'
import { type PromotionRound, toDueTask, type WaitingRow, withPromotion } from '@belfry/db/tasks/due-work'
import { countOfWholeCohorts, type DueTask, lookAheadMs } from '@belfry/queue'
import { failpoint } from '@belfry/runtime'
import type { QueueContext } from './context.ts'

// Work that was due shortly before Redis lost its data is added again too.
const lostQueueMarginMs = 60_000

/**
 * Adds the jobs of waiting tasks that become due within the look-ahead, each window of time once. Tasks of the same second
 * share jobs.
 *
 * Redis holds a marker that changes with every round. When it differs from the marker in PostgreSQL, Redis came back
 * empty or with old data, and everything that it should hold is promoted again. That starts a minute back, and the
 * start is stored before the first job is added. A round that fails halfway therefore starts from the same time again
 * and makes the same jobs. Redis refuses these as duplicates.
 * @returns How many tasks were promoted.
 */
export async function promoteDueTasks(ctx: QueueContext): Promise<number> {
  let promoted = 0
  let isRewound = false
  await withPromotion(ctx.pool, async round => {
    if (__FAILPOINTS__) await failpoint('scheduler.before_promote')
    const start = await startOf(ctx, round)
    isRewound = start < round.watermark
    if (isRewound) return { watermark: start, marker: round.marker }
    const until = new Date(round.now.getTime() + lookAheadMs)
    for await (const tasks of wholeCohorts(round.waiting(start, until))) {
      await ctx.queue.schedule(tasks, round.now.getTime())
      promoted += tasks.length
    }
    const marker = randomUUID()
    await ctx.queue.writeMarker(marker)
    if (__FAILPOINTS__) await failpoint('scheduler.promoted')
    return { watermark: until, marker }
  })
  ctx.metrics.promoted(promoted)
  return isRewound ? promoteDueTasks(ctx) : promoted
}

// Claims move the ends of the pages. The tasks of the last, incomplete job of a page wait for the next page, so the same
// tasks make the same jobs wherever the reading starts.
async function* wholeCohorts(pages: AsyncIterable<WaitingRow[]>): AsyncIterable<DueTask[]> {
  let incomplete: DueTask[] = []
  for await (const page of pages) {
    const tasks = [...incomplete, ...page.map(toDueTask)]
    const whole = countOfWholeCohorts(tasks)
    incomplete = tasks.slice(whole)
    if (whole > 0) yield tasks.slice(0, whole)
  }
  if (incomplete.length > 0) yield incomplete
}

async function startOf(ctx: QueueContext, round: PromotionRound): Promise<Date> {
  if ((await ctx.queue.readMarker()) === round.marker) return round.watermark
  const start = new Date(Math.min(round.watermark.getTime(), round.now.getTime() - lostQueueMarginMs))
  const isFirstRound = round.marker === ''
  if (!isFirstRound && start < round.watermark) {
    ctx.log.warn('queue.lost')
    ctx.metrics.queueLost()
  }
  return start
}
