import type { Claimed } from '../attempt/dispatch.ts'
import { undoClaimsDurably } from '../attempt/follow-up.ts'
import type { IntakeContext } from './intake-context.ts'
import { abandonClaim, releaseClaim, requestClaim } from './pending-claim.ts'
import type { BufferedTask, PendingClaim } from './task-buffer.ts'

/** For how long a prefetched claim may wait for a slot. */
export const maxPrefetchMs = 1_000
// A statement is cancelled before that, and schedulers end a silent dispatcher only later.
const maxClaimMs = 11_000

/**
 * Claims tasks that will have a slot soon. Then their calls need not wait for the database, and more claims share a
 * statement than there are free slots.
 */
export function prefetchClaims(ctx: IntakeContext, tasks: readonly BufferedTask[]): void {
  if (ctx.stop.aborted || tasks.length === 0) return
  ctx.prefetchWaker.wake()
  for (const task of tasks) {
    if (task.isQueued) continue // its permit must not wait for a slot
    task.pendingClaim = requestClaim(ctx, task, true)
    task.pendingClaim.answer.catch(() => {}) // handled when the task has its slot
  }
}

/**
 * Returns whether the attempt of a claim may start. A prefetched claim is entered into the send journal first. A claim that
 * is too old may have been undone by a scheduler while this process was frozen.
 */
export async function mayStart(
  ctx: IntakeContext,
  { task, receivedAt }: Claimed,
  pending: PendingClaim,
): Promise<boolean> {
  const now = performance.now()
  if (now - receivedAt > maxPrefetchMs * 2 || now - pending.requestedAt > maxClaimMs) return false
  return !task.prefetched || ctx.journal.enter(task.runId, pending.session)
}

/**
 * Undoes the prefetched claims of tasks that got no slot. Nothing has been sent for them.
 * @returns The tasks that still wait for an attempt.
 */
export async function undoPrefetched(ctx: IntakeContext, tasks: readonly BufferedTask[]): Promise<BufferedTask[]> {
  const answers = await Promise.all(tasks.map(({ pendingClaim }) => pendingClaim?.answer.catch(() => null)))
  const claimed = answers.flatMap(answer => (answer?.kind === 'claimed' ? [answer.task] : []))
  if (claimed.length > 0) {
    await undoClaimsDurably(ctx, claimed)
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
