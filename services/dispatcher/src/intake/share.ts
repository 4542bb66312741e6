import { isInShare, type TaskShare } from '@belfry/db'

/**
 * Divides the tasks that every dispatcher finds in PostgreSQL over the dispatchers that live: a task belongs to one of them
 * by its id. While two dispatchers disagree about who lives, some tasks are taken by both or, for a second, by none; the
 * claim decides.
 */
export type Share = {
  current(): TaskShare
  has(taskId: string): boolean
  /** Divides anew. A dispatcher that is not among those that live takes everything. Returns whether its share has changed. */
  divide(live: readonly string[]): boolean
}

/** @param id - Of this dispatcher. It takes everything until the first division. */
export function createShare(id: string): Share {
  let share: TaskShare = { index: 0, of: 1 }
  return {
    current: () => share,
    has: taskId => isInShare(taskId, share),
    divide(live) {
      const before = share
      const index = live.indexOf(id)
      share = index === -1 ? { index: 0, of: 1 } : { index, of: live.length }
      return share.index !== before.index || share.of !== before.of
    },
  }
}
