import { undoClaimsDurably } from '../attempt/follow-up.ts'
import type { Context } from '../context.ts'
import { abandonClaim, type PendingClaim, releaseClaim, requestClaim } from './pending-claim.ts'
import type { BufferedTask } from './task-buffer.ts'

/** For how long a prefetched claim may wait for a slot. */
export const maxPrefetchMs = 1_000

/**
 * Claims tasks that will have a slot soon. Then their calls need not wait for the database, and more claims share a
 * statement than there are free slots.
 */
export function prefetchClaims(ctx: Context, tasks: readonly BufferedTask[]): void {
  if (ctx.stop.aborted || tasks.length === 0) return
  ctx.prefetchWaker.wake()
  for (const task of tasks) {
    if (task.isQueued) continue // its permit must not wait for a slot
    requestClaim(ctx, task, true)
  }
}

/** Enters a prefetched claim into the send journal, with the claims of the tasks that follow it in its queue. */
export function enterJournal(ctx: Context, claim: PendingClaim, next: readonly BufferedTask[]): void {
  ctx.journal.enter(claim)
  // One statement for all of them. After a crash they count as sent.
  for (const { pendingClaim } of next) if (pendingClaim) ctx.journal.enter(pendingClaim)
}

/**
 * Undoes the prefetched claims of tasks that did not get a slot. Their requests have not been sent.
 * @returns The tasks that still wait for an attempt.
 */
export async function undoPrefetched(ctx: Context, tasks: readonly BufferedTask[]): Promise<BufferedTask[]> {
  await Promise.all(tasks.map(({ pendingClaim }) => pendingClaim?.whenAnswered()))
  for (const { pendingClaim } of tasks) if (pendingClaim) pendingClaim.entry = 'undone'
  const answers = tasks.map(({ pendingClaim }) => pendingClaim?.answer)
  const claimed = answers.flatMap(answer => (answer?.kind === 'claimed' ? [answer.task] : []))
  if (claimed.length > 0) {
    await undoClaimsDurably(ctx, claimed)
    for (const { runId } of claimed) ctx.journal.close(runId)
    ctx.metrics.claimUndone(claimed.length)
    ctx.log.info({ tasks: claimed.length }, 'claims.undone')
  }
  const waiting: BufferedTask[] = []
  for (const [index, task] of tasks.entries()) {
    const kind = answers[index]?.kind
    task.pendingClaim = undefined
    if (kind === undefined) abandonClaim(ctx, task)
    else if (kind !== 'busy') releaseClaim(ctx, task)
    if (kind === 'gone') ctx.buffer.evict(task)
    else waiting.push(task)
  }
  return waiting
}
