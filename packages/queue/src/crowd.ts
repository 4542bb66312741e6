import type { DueTask } from './dispatch-job.ts'

const maxAtOnce = 100
const mostRemembered = 10_000

/**
 * Counts jobs by their workspace and the second of their first task, and says which ones come after the first hundred. A
 * worker takes jobs one by one, so that thousands of one workspace would keep everybody else's waiting for seconds. It
 * remembers a bounded number of crowds, the latest.
 */
export function createCrowd(): (task: DueTask) => boolean {
  const counts = new Map<string, number>()
  return ({ workspace, dueAt }) => {
    if (workspace === undefined) return false
    const key = `${workspace} ${Math.floor(dueAt / 1000)}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    const oldest = counts.keys().next()
    if (counts.size > mostRemembered && !oldest.done) counts.delete(oldest.value)
    return count > maxAtOnce
  }
}
