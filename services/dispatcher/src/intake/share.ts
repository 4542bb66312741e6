import { isInShare, type TaskShare, wholeShare } from '@belfry/db/tasks/task-share'

/**
 * Keeps the part of the tasks in PostgreSQL that this dispatcher takes. The live dispatchers divide the tasks by their ids.
 * While two of them disagree about which dispatchers live, some tasks are taken by both, or wait for a second; the
 * claim decides.
 * @param id - The id of this dispatcher. It takes everything until the first division.
 */
export function createShare(id: string) {
  let share = wholeShare
  return {
    current: (): TaskShare => share,
    has: (taskId: string): boolean => isInShare(taskId, share),
    /**
     * Divides the tasks again. A dispatcher that is not among the live ones takes everything. Returns whether the share
     * changed.
     */
    divide(live: readonly string[]): boolean {
      const before = share
      const index = live.indexOf(id)
      share = index === -1 ? wholeShare : { index, of: live.length }
      return share.index !== before.index || share.of !== before.of
    },
  }
}
