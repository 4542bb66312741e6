import { randomUUID } from 'node:crypto'
import { beatScheduler, leaveSchedulers } from '@belfry/db/dispatchers/beat-scheduler'
import { inspectDatabase } from '@belfry/db/postgres/inspect-database'
import { pingPool } from '@belfry/db/postgres/pool'
import { version } from '@belfry/domain/version'
import { everyInTurn, type Host, type Logger, measureDependencies, reportBuild, type Service } from '@belfry/runtime'
import type { Config } from './config.ts'
import { type Context, openContext } from './context.ts'
import { backgroundLoops, type Chore, timelyLoops } from './loops.ts'
import { measureAuditStreams, measureQueues, measureWaiting } from './metrics.ts'
import { startAuditFile } from './stream-audit-logs.ts'
import { createVirtualScheduler } from './virtual-clock.ts'

export async function startScheduler(config: Config, log: Logger, host: Host): Promise<Service> {
  const ctx = await openContext(config, log, host)
  const { pool, queue } = ctx
  await startAuditFile(ctx)
  const checks = { database: () => pingPool(pool), ...(queue && { queue: () => queue.ping() }) }
  reportBuild(ctx.metrics.meter, log, { version, revision: config.revision })
  measureWaiting(ctx)
  measureAuditStreams(ctx)
  measureQueues(ctx)
  measureDependencies(ctx.metrics.meter, checks)
  host.operators?.report({ checks, warnings: () => inspectDatabase(pool) })
  const id = randomUUID()
  const [timely, background] = [timelyLoops(ctx), backgroundLoops(ctx)]
  const heartbeat = {
    intervalMs: 1_000,
    run: () => beat(ctx, id, [...timely, ...background]),
    onError: (err: unknown) => log.warn({ err }, 'heartbeat.failed'),
  }
  if (__VIRTUAL_CLOCK__) host.virtualClock?.join(createVirtualScheduler(ctx, background, host.stop))
  const running = everyInTurn([heartbeat, ...timely, ...background], host.stop)
  return {
    async drain() {
      await Promise.all(running)
      await leaveSchedulers(pool, id).catch(err => log.warn({ err }, 'scheduler.left_without_notice'))
      await ctx.close()
    },
  }
}

/** Writes the heartbeat, and wakes the chores for which there is work. */
async function beat({ pool, liveness }: Context, id: string, chores: readonly Chore[]): Promise<void> {
  const { due, heartbeats } = await beatScheduler(pool, id)
  const isAnyDead = liveness.observe(heartbeats).length > 0
  const woken = new Set<string>(isAnyDead ? [...due, 'rescue-lost-attempts'] : due)
  for (const { name, waker } of chores) if (woken.has(name)) waker.wake()
}
