import type { QueueContext } from './context.ts'

/** Warns about a queue's store that is set up so that work would be late. */
export async function inspectQueueStore(ctx: QueueContext): Promise<void> {
  for (const advice of await ctx.queue.findings()) ctx.log.warn({ advice }, 'queue.unfit')
}
