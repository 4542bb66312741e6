import { type DispatchQueue, toleratedSkewMs } from '@belfry/queue'
import { type Loop, type Waker, watchClockSkew } from '@belfry/runtime'
import type { Context } from './context.ts'
import { recoverStrays } from './held-claims.ts'
import { lineUp, startAttempts } from './intake/admit.ts'
import { openFindLateWork } from './intake/find-late-work.ts'
import type { UpcomingReader } from './intake/read-upcoming.ts'
import { refillLines } from './intake/refill-lines.ts'
import { resetHosts } from './intake/reset-hosts.ts'
import { returnDelayed } from './intake/return-delayed.ts'
import { tidyOutbox } from './outbox/tidy-outbox.ts'

/**
 * Shows every second that this process lives.
 * @param onLive - Gets the ids of the dispatchers that live. Default: nothing.
 */
export function heartbeat(ctx: Context, onLive: (live: string[]) => void = () => {}): Loop {
  const onError = (error: unknown) => ctx.log.warn({ err: error }, 'heartbeat.failed')
  return {
    intervalMs: 1_000,
    run: () => ctx.dispatcher.beat(ctx.journal.open, !ctx.stop.aborted).then(onLive),
    onError,
  }
}

/** What a dispatcher does beside its jobs, and how often. */
export function loops(ctx: Context, upcoming: UpcomingReader): Loop[] {
  const chore = (name: string, intervalMs: number, run: Loop['run'], idle?: Idle): Loop => ({
    intervalMs,
    ...idle,
    run,
    onError: error => ctx.log.warn({ err: error, chore: name }, 'chore.failed'),
  })
  const { queue } = ctx
  const findLateWork = openFindLateWork(ctx)
  const warnOfSkew = watchClockSkew(ctx.clock, ctx.metrics.meter, ctx.log)
  return [
    chore('refresh-clock', 10_000, () => refreshClock(ctx, upcoming).then(warnOfSkew)),
    ...(queue === null ? [] : [chore('wake-due-jobs', 100, () => wakeDueJobs(ctx, queue), { maxIntervalMs: 2_000 })]),
    chore('find-own-listeners', 30_000, () => ctx.ownListeners.refresh()),
    chore('find-late-work', 3_000, () => findLateWork(false)),
    chore('find-lost-work', 15_000, () => findLateWork(true)),
    chore('refill-lines', 50, () => refillLines(ctx).then(() => ctx.backlog.size), whenWoken(ctx.backlogged)),
    chore('return-delayed', 100, () => returnDelayed(ctx).then(() => ctx.lines.upcoming), whenWoken(ctx.prefetched)),
    chore('reset-hosts', 2_000, () => resetHosts(ctx)),
    chore('forget-idle-hosts', 5_000, async () => ctx.lines.forget()),
    chore('wake-outbox', 30_000, async () => ctx.outbox.wake()),
    chore('tidy-outbox', 60_000, () => tidyOutbox(ctx)),
    chore('recover-strays', 15_000, () => recoverStrays(ctx)),
    chore('trim-journal', 5_000, () => ctx.journal.trim()),
  ]
}

type Idle = Pick<Loop, 'maxIntervalMs' | 'waker'>

// What it waits for happens in this process, so nothing gets lost.
function whenWoken(waker: Waker): Idle {
  return { maxIntervalMs: 60_000, waker }
}

// Less than that is the error of a measurement.
const stepMs = 100

/** Measures the database's clock again. After a step of it, every buffered task gets a new timer, or starts. */
export async function refreshClock(ctx: Context, upcoming: UpcomingReader): Promise<void> {
  const step = await ctx.clock.refresh()
  if (Math.abs(step) < stepMs) return
  ctx.log.warn({ stepMs: Math.round(step) }, 'clock.stepped')
  for (const task of ctx.waiting.takeAll()) lineUp(ctx, task)
  startAttempts(ctx)
  upcoming.rewind()
}

// BullMQ wakes jobs by this machine's clock. While that is behind the database's, this wakes them.
async function wakeDueJobs({ clock }: Context, queue: DispatchQueue): Promise<number> {
  const now = clock.now()
  if (now - Date.now() <= toleratedSkewMs) return 0
  await queue.wakeDue(now)
  return 1
}
