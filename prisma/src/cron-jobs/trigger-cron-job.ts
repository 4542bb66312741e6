import { newUuid } from '@belfry/domain'
import type { Db } from '../postgres/in-transaction.ts'
import type { DueRow } from '../tasks/due-work.ts'
import { copiedRequests } from './expand-cron-jobs.ts'

/** Creates a task of a cron job that is due now. Returns null when the workspace has no such cron job. */
export async function triggerCronJob(db: Db, workspaceId: string, id: string): Promise<DueRow | null> {
  const text = `
    WITH inserted AS (
      INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, cron_job_id)
      SELECT $3, workspace_id, 'cron', now(), now(), id FROM cron_jobs WHERE id = $1 AND workspace_id = $2
      RETURNING id, due_at, cron_job_id
    ),
    ${copiedRequests}
    SELECT id, due_at AS "dueAt" FROM inserted`
  const { rows } = await db.query<DueRow>({ name: 'trigger_cron_job', text, values: [id, workspaceId, newUuid()] })
  return rows[0] ?? null
}
