import { pingPool } from '@belfry/db'
import { consumeDispatchQueue } from '@belfry/queue'
import { every, type Logger, type Service, serveHealth } from '@belfry/runtime'
import type { Config } from './config.ts'
import { openContext } from './context.ts'
import { loops } from './loops.ts'
import { takeTask } from './take-task.ts'

// Jobs wait in the process for their instant and for a slot, so more of them are in hand than calls are under way.
const jobsPerSlot = 4
const patienceMs = 25_000

/** Starts taking due tasks from the queue. */
export async function startDispatcher(config: Config, log: Logger, stop: AbortSignal): Promise<Service> {
  const ctx = await openContext(config, log, stop)
  const health = await serveHealth(config.healthPort, {
    database: () => pingPool(ctx.pool),
    queue: () => ctx.queue.ping(),
  })
  const running = loops(ctx).map(loop => every(loop, stop))
  const consumer = consumeDispatchQueue(ctx.queueConnection, {
    concurrency: config.concurrency * jobsPerSlot,
    take: async (tasks, signal) => {
      await Promise.all(tasks.map(task => takeTask(ctx, task, signal)))
    },
  })
  return {
    async drain() {
      await consumer.close()
      await ctx.attempts.finish(patienceMs)
      await Promise.all(running)
      health.close()
      health.closeAllConnections()
      await ctx.close()
    },
  }
}
