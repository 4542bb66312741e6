import { setTimeout as sleep } from 'node:timers/promises'
import { claimQuarantined } from '@belfry/db'
import { every, type Host, type Logger, type Service } from '@belfry/runtime'
import type { Config } from '../config.ts'
import { type Context, openContext } from '../context.ts'
import { dispatch } from '../dispatch.ts'
import { recoverStrays } from '../held-claims.ts'
import { heartbeat } from '../loops.ts'
import { leave } from '../start-dispatcher.ts'

const pauseMs = 250
const maxIdleMs = 5_000
const patienceMs = 25_000

/**
 * Starts the quarantine: makes the attempts of lost tasks, one at a time, until none has been due for five seconds.
 * @param onIdle - Called then, to stop the process.
 */
export async function startQuarantine(config: Config, log: Logger, host: Host, onIdle: () => void): Promise<Service> {
  const ctx = await openContext(config, log, host, true)
  const end = new AbortController()
  const beating = every(heartbeat(ctx), end.signal)
  const clock = every({ intervalMs: 10_000, run: () => ctx.clock.refresh(), onError: () => {} }, host.stop)
  const working = work(ctx, config).finally(onIdle)
  return {
    async drain() {
      const timer = setTimeout(() => ctx.sender.close(), patienceMs)
      await Promise.all([working, clock])
      clearTimeout(timer)
      await leave(ctx)
      end.abort()
      await beating
      await ctx.close()
    },
  }
}

async function work(ctx: Context, { tiers }: Config): Promise<void> {
  for (let idleSince = performance.now(); performance.now() - idleSince < maxIdleMs; ) {
    if (ctx.stop.aborted) return
    try {
      const claim = await claimQuarantined(ctx.pool, ctx.dispatcher.id, tiers)
      if (claim?.kind === 'claimed') {
        await dispatch(ctx, claim, () => {})
        idleSince = performance.now()
        continue
      }
    } catch (error) {
      ctx.log.warn({ err: error }, 'quarantine.failed')
      // The answer to the claim may be lost, and nothing else is in flight.
      await recoverStrays(ctx).catch(reason => ctx.log.warn({ err: reason }, 'quarantine.failed'))
    }
    await sleep(pauseMs)
  }
}
