import type { ClaimedTask } from '@belfry/db/tasks/claimed-row'
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

/** The steps of an attempt. All times are by `performance.now()`. */
export type Steps = {
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
  wait: Wait,
  { dueAt, claimedAt, sentAt, wasServed }: Steps,
): WaitReason | null {
  if (sentAt - dueAt < lateMs) return null
  const blocks = Object.entries(wait.blocks) as Array<[WaitReason, number]>
  // Catching up stores an occurrence after its time.
  const storedAt = dueAt + timeOfUuid(task.taskId) - task.scheduledAt.getTime()
  const steps: Array<[reason: WaitReason | null, until: number]> = [
    ['scheduler', task.cronJobId === null ? dueAt : storedAt],
    [wasServed ? (wait.isBacklog ? 'backlog' : null) : 'dispatcher', wait.bufferedAt],
    ...blocks.sort(([, one], [, other]) => one - other),
    ['slot', wait.slotAt],
    ['database', claimedAt],
    [null, sentAt],
  ]
  let at = dueAt
  let longest = { reason: null as WaitReason | null, ms: 0 }
  for (const [reason, until] of steps) {
    if (until - at > longest.ms) longest = { reason, ms: until - at }
    at = Math.max(at, until)
  }
  return longest.reason
}
