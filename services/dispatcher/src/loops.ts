import type { Loop } from '@belfry/runtime'
import type { Context } from './context.ts'
import { findLateWork } from './intake/find-late-work.ts'
import { refillLines } from './intake/refill-lines.ts'
import { resetHosts } from './intake/reset-hosts.ts'
import { returnDelayed } from './intake/return-delayed.ts'
import { tidyOutbox } from './outbox/tidy-outbox.ts'

/** What a dispatcher does beside its jobs, and how often. */
export function loops(ctx: Context): Loop[] {
  const chore = (name: string, intervalMs: number, run: Loop['run']): Loop => ({
    intervalMs,
    run,
    onError: error => ctx.log.warn({ err: error, chore: name }, 'chore.failed'),
  })
  return [
    chore('refresh-clock', 10_000, () => ctx.clock.refresh()),
    chore('find-own-listeners', 30_000, () => ctx.ownListeners.refresh()),
    chore('find-late-work', 1_000, () => findLateWork(ctx, false)),
    chore('find-lost-work', 15_000, () => findLateWork(ctx, true)),
    chore('refill-lines', 50, () => refillLines(ctx)),
    chore('return-delayed', 100, () => returnDelayed(ctx)),
    chore('reset-hosts', 2_000, () => resetHosts(ctx)),
    chore('forget-idle-hosts', 5_000, async () => ctx.lines.forget()),
    chore('wake-outbox', 2_000, async () => ctx.outbox.wake()),
    chore('tidy-outbox', 60_000, () => tidyOutbox(ctx)),
  ]
}
