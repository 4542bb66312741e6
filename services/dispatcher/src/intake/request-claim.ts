import { randomUUID } from 'node:crypto'
import { claimTask } from '../statements/batched-statements.ts'
import type { IntakeContext } from './intake-context.ts'
import { PendingClaim } from './pending-claim.ts'
import type { BufferedTask } from './task-buffer.ts'

/** Requests the claim of a task. When an earlier answer is unknown, the same token finds the claim if it was made. */
export function requestClaim(ctx: IntakeContext, task: BufferedTask, isPrefetch = false): PendingClaim {
  if (task.token === undefined) {
    task.token = randomUUID()
    ctx.held.add(task.token)
  }
  const request = {
    taskId: task.id,
    origin: task.origin,
    token: task.token,
    isPrefetch,
    isQueued: task.isQueued ?? false,
  }
  const claim = new PendingClaim(request, ctx.dispatcher.session)
  task.pendingClaim = claim
  claimTask(ctx, claim)
  return claim
}

/** Ends this process's responsibility for the claim of a task: it was recorded, undone, or not made. */
export function releaseClaim(ctx: IntakeContext, task: BufferedTask): void {
  if (task.token !== undefined) ctx.held.release(task.token)
  task.token = undefined
}

/** Ends the wait for the answer to a claim. Nothing was sent for it. */
export function abandonClaim(ctx: IntakeContext, task: BufferedTask): void {
  if (task.token !== undefined) ctx.held.abandon(task.token)
  task.token = undefined
}
