import { countedPayloads } from '../usage/count-storage.ts'

/**
 * Returns the CTEs that copy tasks, due now, within the database. The new tasks are `copied`.
 * @param part - The CTE of the tasks to copy, with `id`, `workspace_id`, `source`, `cron_job_id` and `event_id`.
 */
export function copiesOf(part: string): string {
  return `
    copied AS (
      INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, cron_job_id, event_id, replay_of)
      SELECT uuid_v7(clock_timestamp()), workspace_id, source, now(), now(), cron_job_id, event_id, id FROM ${part}
      RETURNING id, due_at, replay_of
    ),
    requested AS (
      INSERT INTO task_requests (task_id, name, url, method, headers, payload,
                                 max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic)
      SELECT c.id, r.name, r.url, r.method, r.headers, r.payload,
             r.max_retries, r.backoff, r.base_delay_ms, r.max_delay_ms, r.timeout_ms, r.topic
      FROM copied c JOIN task_requests r ON r.task_id = c.replay_of
    ),
    ${countedPayloads(`
      SELECT p.workspace_id, r.payload FROM ${part} p JOIN task_requests r ON r.task_id = p.id`)}`
}
