/** SQL: the task waits for its time only: it is not blocked by its queue or held by an operator. */
export const waitsForTime = `state IN ('pending', 'retrying') AND waits_for = 0`

/** SQL: the task waits for a dispatcher. A task in quarantine waits for a quarantine process instead. */
export const isWaiting = `${waitsForTime} AND NOT quarantined`

/** SQL: the task has an attempt in flight that no operator holds. */
export const isInFlight = `state = 'processing' AND waits_for = 0`

/** SQL: an operator holds the task since a restore. */
export const isHeld = 'waits_for = 2 AND finished_at IS NULL'

/** SQL: the task `t` is in the dead-letter list, because no user has replayed or discarded it. */
export const isDeadLetter = `t.state = 'dead' AND t.settled_at IS NULL`

/** SQL: the task `t` was cancelled, and no user has replayed it. */
export const isUnsettledCancel = `t.state = 'cancelled' AND t.settled_at IS NULL`

/** SQL: the topic of a task in `moved`. Reads it for events only: only their tasks have a topic. */
export const topicOfMoved = `CASE WHEN moved.source = 'event' THEN (SELECT r.topic FROM task_requests r WHERE r.task_id = moved.id) END`

/** Returns the SQL for the scheme and authority of the URL in a column, as that URL spells them. */
export function originOf(column: string): string {
  return `split_part(${column}, '/', 1) || '//' || split_part(split_part(${column}, '/', 3), '?', 1)`
}

/** Returns the SQL for the host in a URL, with its port. A question mark would be a placeholder in a list query. */
export function hostOfUrl(column: string): string {
  return String.raw`lower(coalesce(substring(${column} FROM '^[^:]+://([^/#\x3f]+)'), ${column}))`
}

export const hostOfRequest = hostOfUrl('r.url')

export const pathOfRequest = String.raw`coalesce(substring(r.url FROM '^[^:]+://[^/#\x3f]*(/[^#\x3f]*)'), '/')`

/**
 * Returns the SQL for a column of the last run of a task `t`. A run is younger than its task, so older partitions are
 * skipped.
 */
export function ofLastRun(column: string): string {
  return `(
    SELECT u.${column} FROM runs u WHERE u.task_id = t.id AND u.id >= uuid_v7_floor(t.created_at) ORDER BY u.id DESC LIMIT 1
  )`
}

export const stoppedColumns = `state = 'dead', state_reason = 'stopped', quarantined = false, finished_at = clock_timestamp(),
  updated_at = clock_timestamp()`

/** Returns the CTE that counts executions which ended without success. */
export function countedFailures(tasks: string): string {
  return `changed AS (
      INSERT INTO usage_changes (workspace_id, failed) SELECT workspace_id, count(*) FROM ${tasks} GROUP BY workspace_id
    )`
}
