/** The host of a request `r`, with its port. A question mark would be a placeholder in a list query. */
export const hostOfRequest = String.raw`lower(coalesce(substring(r.url FROM '^[^:]+://([^/#\x3f]+)'), r.url))`

/** The error code of the last run of a task `t`. A run is younger than its task, so older partitions are skipped. */
export const lastErrorOfTask = `(
  SELECT u.error_code FROM runs u WHERE u.task_id = t.id AND u.id >= uuid_v7_floor(t.created_at) ORDER BY u.id DESC LIMIT 1
)`
