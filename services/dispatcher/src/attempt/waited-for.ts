import type { ClaimedTask } from '@belfry/db/tasks/claim-tasks'
import { timeOfUuid } from '@belfry/domain/id'
import { lateMs, type WaitReason } from '@belfry/domain/wait-reason'
import type { Blocks } from '../scheduling/blocks.ts'

/** What the intake knows about the wait of a task. All times are by `performance.now()`. */
export type Wait = {
  /** When this process learned of the task. */
  bufferedAt: number
  /** Whether it was read from PostgreSQL after tasks of its workspace had found no space in the buffer. */
  isBacklog: boolean
  /** What has blocked its queue of tasks for the same host. */
  blocks: Blocks
  /** When it got a slot. */
  slotAt: number
}

/** The way of a task to its attempt. All times are by `performance.now()`. */
export type Way = Wait & {
  dueAt: number
  claimedAt: number
  sentAt: number
  /** Whether a dispatcher took tasks when the task was due. */
  wasServed: boolean
}

/**
 * Returns the reason of the longest part of the wait of an attempt. Null when the attempt is not late, or when this process
 * does not know the reason.
 */
export function waitedFor(
  task: Pick<ClaimedTask, 'taskId' | 'cronJobId' | 'scheduledAt'>,
  way: Way,
): WaitReason | null {
  if (way.sentAt - way.dueAt < lateMs) return null
  const blocks = Object.entries(way.blocks) as Array<[WaitReason, number]>
  // Catching up stores an occurrence after its time.
  const storedAt = way.dueAt + timeOfUuid(task.taskId) - task.scheduledAt.getTime()
  const steps: Array<[reason: WaitReason | null, until: number]> = [
    ['scheduler', task.cronJobId === null ? way.dueAt : storedAt],
    [way.wasServed ? (way.isBacklog ? 'backlog' : null) : 'dispatcher', way.bufferedAt],
    ...blocks.sort(([, one], [, other]) => one - other),
    ['slot', way.slotAt],
    ['database', way.claimedAt],
    [null, way.sentAt],
  ]
  let at = way.dueAt
  let longest = { reason: null as WaitReason | null, ms: 0 }
  for (const [reason, until] of steps) {
    if (until - at > longest.ms) longest = { reason, ms: until - at }
    at = Math.max(at, until)
  }
  return longest.reason
}
