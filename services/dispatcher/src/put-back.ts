import { type ClaimedTask, undoClaims } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from './context.ts'
import type { UnsentOutcome } from './egress/outcome.ts'
import { outlastOutage } from './outlast-outage.ts'

const shortestPauseMs = 2_500
const longestPauseMs = 7_500

/** Gives back a claimed task whose call we could not even begin: somebody may do so some seconds later. */
export async function putBack(ctx: Context, task: ClaimedTask, outcome: UnsentOutcome): Promise<void> {
  const delayMs = Math.round(shortestPauseMs + Math.random() * (longestPauseMs - shortestPauseMs))
  const id = toId('task', task.taskId)
  ctx.metrics.putBack()
  ctx.log.error({ task: id, reason: outcome.message }, 'attempt.put_back')
  const [waiting] = await outlastOutage(ctx, 1, () => undoClaims(ctx.pool, [{ ...task, delayMs }]))
  if (waiting) await ctx.enqueue([{ id, dueAt: waiting.dueAt.getTime() }], waiting.now.getTime())
}
