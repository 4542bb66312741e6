import type { DueRow } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from '../context.ts'

/** Adds jobs for those of new occurrences that are due soon. */
export function enqueueOccurrences(
  ctx: Pick<Context, 'enqueue'>,
  { tasks, now }: { tasks: readonly DueRow[]; now: Date },
): void {
  ctx.enqueue(
    tasks.map(({ id, dueAt }) => ({ id: toId('task', id), dueAt: dueAt.getTime() })),
    now.getTime(),
  )
}
