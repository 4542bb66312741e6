import { failpoint } from '@belfry/runtime'
import { dispatch } from '../attempt/dispatch.ts'
import { type HealthSignal, healthSignalOf } from '../scheduling/circuit-breaker.ts'
import type { Slot } from '../scheduling/host-queues.ts'
import type { AttemptOutcome } from '../secrets/attempt-outcome.ts'
import { pauseHost, reportCircuit } from './circuits.ts'
import { claimBuffered } from './claim-buffered.ts'
import type { IntakeContext } from './intake-context.ts'
import { releaseClaim } from './pending-claim.ts'
import { prefetchClaims } from './prefetch-claims.ts'
import type { BufferedTask } from './task-buffer.ts'

/**
 * Claims and attempts the task that has a slot. The slot is released as soon as the call has ended: the next call does not
 * wait for the record of this one.
 * @param onFree - Called when the slot is free while the attempt is being recorded.
 * @returns `waiting` when the task has to be queued again.
 */
export async function attemptInSlot(
  ctx: IntakeContext,
  slot: Slot<BufferedTask>,
  onFree: () => void,
): Promise<'ended' | 'waiting'> {
  const { task, blocks } = slot
  const { bufferedAt, isBacklog } = task
  const wait = { bufferedAt, isBacklog, blocks, slotAt: performance.now() }
  try {
    if (__FAILPOINTS__) await failpoint('dispatcher.before_claim')
    const claimed = await claimBuffered(ctx, task)
    if (claimed === null) return 'ended'
    if (claimed === 'waiting') return 'waiting'
    const onOutcome = (outcome: AttemptOutcome) => {
      release(ctx, slot, healthSignalOf(outcome))
      pauseHost(ctx, task, outcome)
      onFree()
      prefetchClaims(ctx, slot.prefetchNext())
    }
    await dispatch(ctx, claimed, onOutcome, wait).finally(() => releaseClaim(ctx, task))
    ctx.journal.close(claimed.task.runId)
    return 'ended'
  } finally {
    release(ctx, slot, null)
  }
}

function release(ctx: IntakeContext, slot: Slot<BufferedTask>, signal: HealthSignal): void {
  const change = slot.release(signal)
  if (change) reportCircuit(ctx, slot.task, change)
}
