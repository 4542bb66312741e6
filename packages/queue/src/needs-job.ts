/** Tasks due later than this wait in PostgreSQL only. */
export const lookAheadMs = 5 * 60_000

// A caller that adds a job right after its commit looks further ahead than the promotion. When the commit and the
// promotion's read overlap, at least one of the two therefore adds the job.
const crossingMarginMs = 30_000

/**
 * How long before their time occurrences of cron jobs are stored as tasks: before the promotion reaches that time, so it
 * adds their jobs like the jobs of every other task.
 */
export const expansionLookAheadMs = lookAheadMs + 2 * crossingMarginMs

// Below this, PostgreSQL's notification to the dispatchers is faster than a job.
const minJobAheadMs = 1_000

/**
 * Returns whether the caller that has just stored a task must add its job. PostgreSQL notifies the dispatchers of tasks due
 * within a second, and the promotion adds the jobs of later tasks as their time nears.
 */
export function needsJob(dueAt: number, now: number): boolean {
  return dueAt > now + minJobAheadMs && dueAt < now + lookAheadMs + crossingMarginMs
}
