import type { ClaimedTask } from '@belfry/db/tasks/claimed-row'
import { timeOfUuid } from '@belfry/domain/id'
import { lateMs, type WaitReason } from '@belfry/domain/wait-reason'
import { type BlockReason, type Blocks, noBlocks } from '../scheduling/host.ts'

/** What the intake knows about the wait of a task. All times are by `performance.now()`. */
export type Wait = {
  /** When this process learned of the task. */
  bufferedAt: number
  /** Whether it was read from PostgreSQL after the buffer had refused tasks of its workspace. */
  isBacklog: boolean
  /** What has blocked its queue of tasks for the same host. */
  blocks: Blocks
  /** When it got a slot. */
  slotAt: number
}

/** The steps of an attempt. All times are by `performance.now()`. */
export type Steps = {
  dueAt: number
  /** The first time, from the due time on, when a dispatcher took tasks. */
  servedAt: number
  claimedAt: number
  sentAt: number
}

/**
 * Returns the reason of the longest part of the wait of an attempt. Null when the attempt is not late, or when this process
 * does not know the reason.
 */
export function waitedFor(
  task: Pick<ClaimedTask, 'taskId' | 'cronJobId' | 'scheduledAt'>,
  wait: Wait,
  { dueAt, servedAt, claimedAt, sentAt }: Steps,
): WaitReason | null {
  if (sentAt - dueAt < lateMs) return null
  let at = dueAt
  let maxWaitMs = 0
  let reason: WaitReason | null = null
  function step(next: WaitReason | null, until: number): void {
    if (until - at > maxWaitMs) {
      maxWaitMs = until - at
      reason = next
    }
    at = Math.max(at, until)
  }
  // Catching up stores an occurrence after its time.
  if (task.cronJobId !== null) step('scheduler', dueAt + timeOfUuid(task.taskId) - task.scheduledAt.getTime())
  step('dispatcher', servedAt)
  step(wait.isBacklog ? 'backlog' : null, wait.bufferedAt)
  for (const [block, until] of blocksInOrder(wait.blocks)) step(block, until)
  step('slot', wait.slotAt)
  step('database', claimedAt)
  step(null, sentAt)
  return reason
}

function blocksInOrder(blocks: Blocks): ReadonlyArray<[BlockReason, number]> {
  if (blocks === noBlocks) return []
  return (Object.entries(blocks) as Array<[BlockReason, number]>).sort(([, one], [, other]) => one - other)
}
