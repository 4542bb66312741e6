import { randomUUID } from 'node:crypto'
import { undoClaims } from '@belfry/db'
import type { Context } from '../context.ts'
import type { Claimed } from '../dispatch.ts'
import { outlastOutage } from '../outlast-outage.ts'
import type { TaskInHand } from './hand.ts'

/** For how long a prefetched claim waits for a slot. */
export const maxPrefetchMs = 1_000
// A statement is cancelled before that, and a dispatcher is thought dead only later.
const maxClaimMs = 11_000

/** A claim that was asked for. */
export type Asked = NonNullable<TaskInHand['asked']>

/** Claims a task. A claim whose answer is still unknown is asked for with the same token, so it is recognized. */
export function askForClaim(ctx: Context, task: TaskInHand, isPrefetch = false): Asked {
  if (task.token === undefined) {
    task.token = randomUUID()
    ctx.held.add(task.token)
  }
  const claim = ctx.claim({ taskId: task.id, origin: task.origin, token: task.token, isPrefetch })
  return { claim, at: performance.now(), session: ctx.dispatcher.session }
}

/** Ends this process's responsibility for the claim of a task: it is recorded, undone, or was not made. */
export function releaseClaim(ctx: Context, task: TaskInHand): void {
  if (task.token !== undefined) ctx.held.release(task.token)
  task.token = undefined
}

/** Stops waiting for the answer to a claim of a task. Nothing was sent for it. */
export function abandonClaim(ctx: Context, task: TaskInHand): void {
  if (task.token !== undefined) ctx.held.abandon(task.token)
  task.token = undefined
}

/**
 * Claims tasks that will have a slot soon, so that their calls need not wait for the database then, and more of them share
 * a statement than there are slots.
 */
export function prefetch(ctx: Context, tasks: readonly TaskInHand[]): void {
  if (ctx.stop.aborted || tasks.length === 0) return
  ctx.prefetched.wake()
  for (const task of tasks) {
    task.asked = askForClaim(ctx, task, true)
    task.asked.claim.catch(() => {}) // it rejects again when the task has its slot
  }
}

/** Whether a claim is so old that the process was frozen meanwhile: it may have been ended as dead. */
export function isOutdated({ receivedAt }: Claimed, asked: Asked): boolean {
  const now = performance.now()
  return now - receivedAt > maxPrefetchMs * 2 || now - asked.at > maxClaimMs
}

/**
 * Undoes the prefetched claims of tasks that did not get a slot. Nothing has been sent for them.
 * @returns The tasks that still wait.
 */
export async function undoPrefetched(ctx: Context, tasks: readonly TaskInHand[]): Promise<TaskInHand[]> {
  const answers = await Promise.all(tasks.map(({ asked }) => asked?.claim.catch(() => null)))
  const claimed = answers.flatMap(answer => (answer?.kind === 'claimed' ? [answer.task] : []))
  if (claimed.length > 0) {
    await outlastOutage(ctx, claimed.length, () => undoClaims(ctx.pool, claimed))
    ctx.metrics.claimUndone(claimed.length)
    ctx.log.info({ tasks: claimed.length }, 'claims.undone')
  }
  const waiting: TaskInHand[] = []
  for (const [index, task] of tasks.entries()) {
    const kind = answers[index]?.kind
    task.asked = undefined
    if (kind === undefined) abandonClaim(ctx, task)
    else if (kind !== 'busy') releaseClaim(ctx, task)
    if (kind === 'gone') ctx.hand.letGo(task)
    else waiting.push(task)
  }
  return waiting
}
