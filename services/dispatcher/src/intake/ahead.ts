import { randomUUID } from 'node:crypto'
import { type Claim, putBackTasks } from '@belfry/db'
import type { Context } from '../context.ts'
import type { Claimed } from '../dispatch.ts'
import { outlastOutage } from '../outlast-outage.ts'
import type { TaskInHand } from './hand.ts'

/** For how long a claimed task waits for its turn. Its lease counts from the claim on, and nobody else can have it meanwhile. */
export const longestAheadMs = 1_000

/** Claims a task. The token tells a claim whose commit was not heard of from one that was lost. */
export function askForClaim(ctx: Context, task: TaskInHand): Promise<Claim> {
  return ctx.claim({ taskId: task.id, origin: task.origin, token: randomUUID() })
}

/**
 * Claims tasks whose turn comes soon, so that their calls need not wait for the database then, and that more of them
 * share a statement than there are slots.
 */
export function claimAhead(ctx: Context, tasks: readonly TaskInHand[]): void {
  if (ctx.stop.aborted) return
  for (const task of tasks) {
    task.ahead = askForClaim(ctx, task)
    task.ahead.catch(() => {}) // it rejects again when its turn comes
  }
}

/** Whether a claim is older than a claim ahead may become, as after the process was frozen: somebody else may have the task. */
export function isOutdated({ heardAt }: Claimed): boolean {
  return performance.now() - heardAt > longestAheadMs * 2
}

/**
 * Undoes the claims of tasks whose turn did not come. Nothing has left for them.
 * @returns The tasks that wait still.
 */
export async function undoClaims(ctx: Context, tasks: readonly TaskInHand[]): Promise<TaskInHand[]> {
  const answers = await Promise.all(tasks.map(({ ahead }) => ahead?.catch(() => null)))
  const claimed = answers.flatMap(answer => (answer?.kind === 'claimed' ? [answer.task] : []))
  if (claimed.length > 0) {
    await outlastOutage(ctx, claimed.length, () => putBackTasks(ctx.pool, claimed))
    ctx.metrics.claimUndone(claimed.length)
    ctx.log.info({ tasks: claimed.length }, 'claims.undone')
  }
  const waiting: TaskInHand[] = []
  for (const [index, task] of tasks.entries()) {
    task.ahead = undefined
    if (answers[index]?.kind === 'gone') ctx.hand.letGo(task)
    else waiting.push(task)
  }
  return waiting
}
