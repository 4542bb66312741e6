import { setTimeout as sleep } from 'node:timers/promises'
import { claimQuarantined, nextQuarantined, type QuarantinedTask } from '@belfry/db/tasks/quarantine'
import { askedDelayMs } from '@belfry/domain/next-attempt'
import { createLogger, every, type Host, type Logger, runService, type Service } from '@belfry/runtime'
import { Attempt, type Claimed } from '../attempt/attempt.ts'
import type { Config } from '../config.ts'
import { type Context, closeContext, openContext } from '../context.ts'
import { heartbeat, leave, recoverStrays } from '../liveness.ts'
import { healthSignalOf } from '../scheduling/circuit-breaker.ts'
import type { AttemptOutcome } from '../secrets/attempt-outcome.ts'
import { openPermits, type Permit } from './ask-permits.ts'

/** Runs the quarantine until its process stops. `load` may throw a ConfigError: the caller reports it. */
export async function runQuarantine(load: () => Config): Promise<void> {
  const config = load()
  const log = createLogger('quarantine', config.logLevel)
  const options = { drainMs: config.drainMs, roles: ['dispatcher'], operatorListen: null, traces: config.traces }
  await runService(log, options, (host, end) => startQuarantine(config, log, host, end))
}

const pauseMs = 250
const maxIdleMs = 5_000
// For this time a process passes over the tasks of a workspace for a host that had no permit, and looks for others less often.
const restMs = 60_000
const restingPauseMs = 1_000

/**
 * Makes the attempts of lost tasks, one at a time, each with a permit of the dispatcher that has started this process.
 * @param onIdle - Called to stop the process, when no such task was due for five seconds.
 */
async function startQuarantine(config: Config, log: Logger, host: Host, onIdle: () => void): Promise<Service> {
  const ctx = await openContext(config, log, host, true)
  const end = new AbortController()
  const beating = every(heartbeat(ctx), end.signal)
  const clock = every({ intervalMs: 10_000, run: () => ctx.clock.refresh(), onError: () => {} }, host.stop)
  const working = work(ctx, config).finally(onIdle)
  return {
    async drain() {
      const timer = setTimeout(() => ctx.sender.close(), config.drainMs)
      await Promise.all([working, clock])
      clearTimeout(timer)
      end.abort()
      await beating
      await leave(ctx)
      await closeContext(ctx)
    },
  }
}

async function work(ctx: Context, { tiers }: Config): Promise<void> {
  const askPermit = openPermits(ctx.stop)
  let resting: Array<QuarantinedTask & { until: number }> = []
  for (let idleSince = performance.now(); performance.now() - idleSince < maxIdleMs; ) {
    if (ctx.stop.aborted) return
    try {
      const { id, session } = ctx.dispatcher
      resting = resting.filter(({ until }) => until > performance.now())
      const task = await nextQuarantined(ctx.pool, resting)
      if (task !== null || resting.length > 0) idleSince = performance.now()
      const permit = task && (await askPermit(task))
      if (task && permit === null) resting.push({ ...task, until: performance.now() + restMs })
      try {
        const canClaim = permit !== null && ctx.fence.holds(session)
        const claim = task && canClaim ? await claimQuarantined(ctx.pool, id, task, tiers) : null
        if (permit && claim?.kind === 'claimed') {
          await new QuarantinedAttempt(ctx, permit).make(claim, session)
          continue
        }
      } finally {
        permit?.release(null)
      }
    } catch (error) {
      ctx.log.warn({ err: error }, 'quarantine.failed')
      // The answer to the claim may be lost. The claim is the only work of this process.
      await recoverStrays(ctx).catch(reason => ctx.log.warn({ err: reason }, 'quarantine.failed'))
    }
    await sleep(resting.length > 0 ? restingPauseMs : pauseMs)
  }
}

class QuarantinedAttempt extends Attempt {
  readonly #ctx: Context
  readonly #permit: Permit
  #resolve = () => {}
  #reject = (_fault: unknown) => {}
  #until: Promise<unknown> | null = null

  constructor(ctx: Context, permit: Permit) {
    super(ctx)
    this.#ctx = ctx
    this.#permit = permit
  }

  make(claimed: Claimed, session: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.begin(claimed, session, null)
    })
  }

  protected override get wait(): null {
    return null
  }

  // The next try follows at once, and fails for the same reason if there are no credentials.
  protected override onDeferred(until: Promise<unknown>): void {
    this.#until = until
  }

  // Four processes make one call each, so their slots are too few to matter.
  protected override onCalling(): void {}

  protected override onCalled(outcome: AttemptOutcome): void {
    const now = new Date(this.#ctx.clock.now())
    this.#permit.release(healthSignalOf(outcome), outcome.kind === 'response' ? askedDelayMs(outcome, now) : 0)
  }

  protected override onOver(fault?: unknown): void {
    if (fault === undefined) Promise.resolve(this.#until).then(this.#resolve, this.#resolve)
    else this.#reject(fault)
  }
}
