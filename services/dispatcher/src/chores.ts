import { type DispatchQueue, toleratedSkewMs } from '@belfry/queue'
import { createWaker, type Loop, watchClockSkew } from '@belfry/runtime'
import { createConnectionTestRunner } from './connections/run-connection-tests.ts'
import type { Context } from './context.ts'
import { queueUnlessStopped } from './intake/admit.ts'
import { applyTenantChanges } from './intake/apply-tenant-changes.ts'
import { shareCircuits } from './intake/circuits.ts'
import { openFindLateWork } from './intake/find-late-work.ts'
import { maxPrefetchMs, undoPrefetched } from './intake/prefetch-claims.ts'
import type { UpcomingReader } from './intake/read-upcoming.ts'
import { refillQueues } from './intake/refill-queues.ts'
import { queueWhenDue, startAttempts } from './intake/start-attempts.ts'
import { recoverStrays } from './liveness.ts'
import { tidyOutbox } from './outbox/outbox.ts'

// For chores that only this process wakes, so a wake-up cannot get lost.
const wokenMs = 60_000

/** Returns what a dispatcher does beside its attempts, and how often. */
export function chores(ctx: Context, upcoming: UpcomingReader): Loop[] {
  const chore = (
    name: string,
    intervalMs: number,
    run: Loop['run'],
    maxIntervalMs = intervalMs,
    waker = createWaker(),
  ): Loop => {
    const onError = (error: unknown) => ctx.log.warn({ err: error, chore: name }, 'chore.failed')
    return { intervalMs, maxIntervalMs, waker, run, onError }
  }
  const { queue } = ctx
  const testConnections = createConnectionTestRunner(ctx, ctx.identity.userAgent, ctx.connectionTestsWaker.wake)
  const findLateWork = openFindLateWork(ctx)
  const warnOfSkew = watchClockSkew(ctx.clock, ctx.metrics.meter, ctx.log)
  return [
    chore('refresh-clock', 10_000, () => refreshClock(ctx, upcoming).then(warnOfSkew)),
    ...(queue === null ? [] : [chore('wake-due-jobs', 100, () => wakeDueJobs(ctx, queue), 2_000)]),
    chore('find-own-listeners', 30_000, () => ctx.ownListeners.refresh()),
    chore('find-late-work', 3_000, () => findLateWork(false)),
    chore('find-lost-work', 15_000, () => findLateWork(true)),
    chore('refill-queues', 50, () => refillQueues(ctx).then(() => ctx.backlog.size), wokenMs, ctx.backlogWaker),
    chore('undo-delayed-claims', 100, () => undoDelayedClaims(ctx), wokenMs, ctx.prefetchWaker),
    chore('share-circuits', 100, () => shareAndStart(ctx), 15_000, ctx.circuitsWaker),
    chore('apply-tenant-changes', 100, () => applyTenantChanges(ctx).then(() => 0), 2_000, ctx.tenantsWaker),
    chore('test-connections', 2_000, () => testConnections().then(() => 0), 15_000, ctx.connectionTestsWaker),
    chore('move-slow-calls', 250, async () => {
      if (ctx.hostQueues.moveSlowCalls() > 0) startAttempts(ctx)
    }),
    chore('evict-idle-queues', 5_000, async () => ctx.hostQueues.evictIdle()),
    chore('wake-outbox', 30_000, async () => ctx.outbox.wake()),
    chore('tidy-outbox', 60_000, () => tidyOutbox(ctx)),
    chore('recover-strays', 15_000, () => recoverStrays(ctx)),
    chore('trim-journal', 5_000, () => ctx.journal.trim()),
  ]
}

/**
 * Undoes the prefetched claims of tasks that did not get a slot after all: their target has become slow, or its circuit
 * breaker has opened.
 * @returns How many other tasks have prefetched claims.
 */
async function undoDelayedClaims(ctx: Context): Promise<number> {
  const delayed = ctx.hostQueues.takeDelayed(maxPrefetchMs)
  if (delayed.length > 0) await queueUnlessStopped(ctx, await undoPrefetched(ctx, delayed))
  return ctx.hostQueues.prefetched
}

async function shareAndStart(ctx: Context): Promise<number> {
  const changed = await shareCircuits(ctx)
  if (changed > 0) startAttempts(ctx)
  return changed
}

// A smaller difference is an error of measurement.
const stepMs = 100

/** Measures the database's clock again. After a step, every buffered task gets a new timer, or is queued. */
async function refreshClock(ctx: Context, upcoming: UpcomingReader): Promise<void> {
  const step = await ctx.clock.refresh()
  if (Math.abs(step) < stepMs) return
  ctx.log.warn({ stepMs: Math.round(step) }, 'clock.stepped')
  for (const task of ctx.timers.takeAll()) queueWhenDue(ctx, task)
  startAttempts(ctx)
  upcoming.rewind()
}

// BullMQ wakes jobs by the clock of this machine. While that is behind the database's clock, this wakes them.
async function wakeDueJobs({ clock }: Context, queue: DispatchQueue): Promise<number> {
  const now = clock.now()
  if (now - Date.now() <= toleratedSkewMs) return 0
  await queue.wakeDue(now)
  return 1
}
