/** The columns of a run in a list, without bodies. `u` is the run, `r` its task's request. */
export const runColumns = `
  u.id, u.workspace_id AS "workspaceId", u.task_id AS "taskId", r.name AS "taskName", u.source,
  u.cron_job_id AS "cronJobId",
  (SELECT timezone FROM cron_jobs c WHERE c.id = u.cron_job_id AND c.workspace_id = u.workspace_id) AS "cronJobTimezone", u.topic, u.attempt, u.status, u.scheduled_at AS "scheduledAt",
  u.started_at AS "startedAt", u.finished_at AS "finishedAt", u.waited_for AS "waitedFor", u.timings, r.url, r.method,
  u.response_status AS "responseStatus", u.error_code AS "errorCode", u.error_message AS "errorMessage"`

/** Joins the request of a run's task. */
export const joinRequests = 'JOIN task_requests r ON r.task_id = u.task_id'
