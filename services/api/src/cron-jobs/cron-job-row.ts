import type { CronJobFields } from '@belfry/db/cron-jobs/cron-job'
import type { Db } from '@belfry/db/postgres/in-transaction'
import type { LastRunRow } from '@belfry/present/task-row'
import { isExactly } from '../http/bounded-page.ts'

/** A cron job with the latest run of its tasks. */
export type CronJobRow = CronJobFields &
  LastRunRow & {
    id: string
    workspaceId: string
    pausedAt: Date | null
    createdBy: string | null
    updatedBy: string | null
    createdAt: Date
    updatedAt: Date
  }

/** Selects cron jobs. The caller appends conditions: `j` is the cron job. */
export const selectCronJobs = `
  SELECT j.id, j.workspace_id AS "workspaceId", j.name, j.cron, j.timezone, j.starts_at AS "startsAt",
         j.ends_at AS "endsAt", j.overlap, j.catch_up AS "catchUp", j.paused_at AS "pausedAt", j.url, j.method,
         j.headers, j.payload, j.content_type AS "contentType", j.callbacks, j.max_retries AS "maxRetries", j.backoff,
         j.base_delay_ms AS "baseDelayMs", j.max_delay_ms AS "maxDelayMs", j.timeout_ms AS "timeoutMs", j.queue,
         j.retry_delays AS "retryDelays", j.max_age_ms AS "maxAgeMs", j.labels, j.qstash, j.connection, j.qstash_id AS "qstashId", j.key,
         j.created_by AS "createdBy", j.updated_by AS "updatedBy", j.created_at AS "createdAt",
         j.updated_at AS "updatedAt", last.id AS "lastRunId", last.status AS "lastRunStatus",
         last.response_status AS "lastRunResponseStatus", last.error_code AS "lastRunErrorCode",
         last.finished_at AS "lastRunFinishedAt"
  FROM cron_jobs j
  LEFT JOIN LATERAL (
    SELECT u.id, u.status, u.response_status, u.error_code, u.finished_at
    FROM tasks t CROSS JOIN LATERAL (
      SELECT * FROM runs
      WHERE runs.task_id = t.id AND runs.id >= uuid_v7_floor(t.created_at)
      ORDER BY runs.id DESC LIMIT 1
    ) u
    WHERE ${isExactly('t.cron_job_id', 'j.id')} AND t.attempts > 0
    ORDER BY t.cron_job_id, t.id DESC LIMIT 1
  ) last ON true`

/** Reads one cron job of a workspace. */
export async function findCronJob(db: Db, workspaceId: string, id: string): Promise<CronJobRow | undefined> {
  const text = `${selectCronJobs} WHERE j.id = $1 AND j.workspace_id = $2`
  const { rows } = await db.query<CronJobRow>({ name: 'find_cron_job', text, values: [id, workspaceId] })
  return rows[0]
}
