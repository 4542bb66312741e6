import { type DispatchQueue, toleratedSkewMs } from '@belfry/queue'
import { type Loop, type Waker, watchClockSkew } from '@belfry/runtime'
import { createConnectionTestRunner } from './connections/run-connection-tests.ts'
import type { Context } from './context.ts'
import { applyTenantChanges } from './intake/apply-tenant-changes.ts'
import { shareCircuits } from './intake/circuits.ts'
import { openFindLateWork } from './intake/find-late-work.ts'
import type { UpcomingReader } from './intake/read-upcoming.ts'
import { refillQueues } from './intake/refill-queues.ts'
import { queueWhenDue, startAttempts } from './intake/start-attempts.ts'
import { undoDelayedClaims } from './intake/undo-delayed-claims.ts'
import { recoverStrays } from './liveness.ts'
import { tidyOutbox } from './outbox/outbox.ts'

/** Returns what a dispatcher does beside its attempts, and how often. */
export function chores(ctx: Context, upcoming: UpcomingReader): Loop[] {
  const chore = (name: string, intervalMs: number, run: Loop['run'], idle?: Idle): Loop => ({
    intervalMs,
    ...idle,
    run,
    onError: error => ctx.log.warn({ err: error, chore: name }, 'chore.failed'),
  })
  const { queue } = ctx
  const testConnections = createConnectionTestRunner(ctx, ctx.identity.userAgent, ctx.connectionTestsWaker.wake)
  const findLateWork = openFindLateWork(ctx)
  const warnOfSkew = watchClockSkew(ctx.clock, ctx.metrics.meter, ctx.log)
  return [
    chore('refresh-clock', 10_000, () => refreshClock(ctx, upcoming).then(warnOfSkew)),
    ...(queue === null ? [] : [chore('wake-due-jobs', 100, () => wakeDueJobs(ctx, queue), { maxIntervalMs: 2_000 })]),
    chore('find-own-listeners', 30_000, () => ctx.ownListeners.refresh()),
    chore('find-late-work', 3_000, () => findLateWork(false)),
    chore('find-lost-work', 15_000, () => findLateWork(true)),
    chore('refill-queues', 50, () => refillQueues(ctx).then(() => ctx.backlog.size), whenWoken(ctx.backlogWaker)),
    chore(
      'undo-delayed-claims',
      100,
      () => undoDelayedClaims(ctx).then(() => ctx.hostQueues.prefetched),
      whenWoken(ctx.prefetchWaker),
    ),
    chore('share-circuits', 100, () => shareCircuits(ctx).then(changed => startAfter(ctx, changed)), {
      maxIntervalMs: 15_000,
      waker: ctx.circuitsWaker,
    }),
    chore('apply-tenant-changes', 100, () => applyTenantChanges(ctx).then(() => 0), {
      maxIntervalMs: 2_000,
      waker: ctx.tenantsWaker,
    }),
    chore('test-connections', 2_000, () => testConnections().then(() => 0), {
      maxIntervalMs: 15_000,
      waker: ctx.connectionTestsWaker,
    }),
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

type Idle = Pick<Loop, 'maxIntervalMs' | 'waker'>

// Its cause is in this process, so wake-ups cannot get lost.
function whenWoken(waker: Waker): Idle {
  return { maxIntervalMs: 60_000, waker }
}

function startAfter(ctx: Context, changed: number): number {
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
