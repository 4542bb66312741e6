// A task that its queue does not let start is blocked: its due time lies this far ahead, so no search for due work finds
// it, and the change is exactly reversible. Tasks that `holdOverdueTasks` holds lie further ahead.
export const blockedAway = `interval '2000 years'`

/** Returns the SQL for the state of an unfinished task in its queue: 0 waits, 1 blocked, 2 in flight, 3 held. */
export function queuePhase(alias: string): string {
  return `queue_phase(${alias}.state, ${alias}.due_at)`
}

/** Returns the SQL: the task is blocked by its queue. */
export function isBlocked(alias: string): string {
  return `(${alias}.queue_id IS NOT NULL AND ${alias}.finished_at IS NULL AND ${queuePhase(alias)} = 1)`
}

/** Returns the SQL for the due time of a task, also while its queue blocks it. */
export function trueDueAt(alias: string): string {
  return `CASE WHEN ${alias}.due_at >= '3000-01-01 00:00:00+00' AND ${alias}.due_at < '9000-01-01 00:00:00+00'
               THEN ${alias}.due_at - ${blockedAway} ELSE ${alias}.due_at END`
}

/** Returns the SQL for the id of a queue, from its workspace and its name; null for no name. */
export function queueIdOf(workspace: string, name: string): string {
  return `CASE WHEN ${name} IS NOT NULL THEN md5(${workspace}::text || ' ' || ${name})::uuid END`
}

/** Returns the SQL: a queue has a limit, or is paused. Tasks of other queues are claimed like tasks without a queue. */
export function isLimited(alias: string): string {
  return `(${alias}.ordered OR coalesce(${alias}.max_concurrent, ${alias}.rate_count) IS NOT NULL
           OR ${alias}.paused_at IS NOT NULL)`
}
