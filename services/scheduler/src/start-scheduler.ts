import { pingPool } from '@belfry/db'
import { every, type Logger, measureDependencies, type Service, serveHealth, warnOfOldZoneData } from '@belfry/runtime'
import type { Config } from './config.ts'
import { openContext } from './context.ts'
import { loops } from './loops.ts'
import { measureWaiting } from './metrics.ts'

/** Starts the scheduler's chores. */
export async function startScheduler(config: Config, log: Logger, stop: AbortSignal): Promise<Service> {
  warnOfOldZoneData(log)
  const ctx = await openContext(config, log, stop)
  const checks = { database: () => pingPool(ctx.pool), queue: () => ctx.queue.ping() }
  measureWaiting(ctx)
  measureDependencies(ctx.metrics.meter, checks)
  const health = await serveHealth(config.healthPort, checks, { metrics: ctx.metrics.meter })
  const running = loops(ctx).map(loop => every(loop, stop))
  return {
    async drain() {
      await Promise.all(running)
      health.close()
      health.closeAllConnections()
      await ctx.close()
    },
  }
}
