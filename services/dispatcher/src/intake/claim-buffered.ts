import type { Claim } from '@belfry/db/tasks/claim-tasks'
import type { Claimed } from '../attempt/dispatch.ts'
import { advanceQueue } from '../statements/advance-queues.ts'
import { targetOf } from './incoming-task.ts'
import type { IntakeContext } from './intake-context.ts'
import { abandonClaim, releaseClaim, requestClaim } from './pending-claim.ts'
import { mayStart, undoPrefetched } from './prefetch-claims.ts'
import { requeue } from './requeue.ts'
import type { BufferedTask } from './task-buffer.ts'

const busyPauseMs = 20

/**
 * Claims a buffered task that has a slot, or uses its prefetched claim. A claimed task leaves the buffer. While the database
 * is away nothing can be claimed, so the task keeps its slot.
 * @returns The claim; `waiting` when the task has to be queued again; null when there is nothing more to do for it.
 */
export async function claimBuffered(ctx: IntakeContext, task: BufferedTask): Promise<Claimed | 'waiting' | null> {
  try {
    task.pendingClaim ??= requestClaim(ctx, task)
    let { pendingClaim } = task
    let answer = await pendingClaim.answer
    if (answer.kind === 'queued') {
      task.isQueued = true
      pendingClaim = task.pendingClaim = requestClaim(ctx, task)
      answer = await pendingClaim.answer
    }
    const isSuspended = ctx.tenants.find(task.workspace)?.isSuspended
    if (answer.kind === 'claimed' && (isSuspended || !(await mayStart(ctx, answer, pendingClaim)))) {
      const waiting = await undoPrefetched(ctx, [task])
      return waiting.length > 0 ? 'waiting' : null
    }
    task.pendingClaim = undefined
    if (answer.kind !== 'busy' && answer.kind !== 'claimed') releaseClaim(ctx, task)
    if (answer.kind === 'claimed' || answer.kind === 'gone' || answer.kind === 'blocked') {
      ctx.buffer.evict(task)
      // The wake-up for a rate limit, or for a permit that became free during the claim.
      if (answer.kind === 'blocked') advanceQueue(ctx, answer.queueId)
      return answer.kind === 'claimed' ? answer : null
    }
    update(ctx, task, answer)
    return 'waiting'
  } catch (error) {
    ctx.buffer.evict(task)
    abandonClaim(ctx, task)
    if (!ctx.stop.aborted) throw error
    await requeue(ctx, [task])
    return null
  }
}

type Refusal = Extract<Claim, { kind: 'early' | 'busy' | 'moved' | 'not_prefetchable' | 'queued' }>

// The time or the target of the task was changed, another transaction holds its row, or it must not be prefetched.
function update(ctx: IntakeContext, task: BufferedTask, answer: Refusal): void {
  if (answer.kind === 'early') task.dueAt = ctx.clock.now() + answer.dueInMs
  if (answer.kind === 'busy') task.dueAt = ctx.clock.now() + busyPauseMs
  if (answer.kind === 'queued') task.isQueued = true
  if (answer.kind === 'moved') Object.assign(task, targetOf(answer.origin))
}
