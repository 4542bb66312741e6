import type { Loop } from '@belfry/runtime'
import type { Context } from './context.ts'
import { pollDueTasks } from './poll-due-tasks.ts'

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
    chore('poll-due-tasks', 1_000, signal => pollDueTasks(ctx, signal)),
  ]
}
