import { newUuid } from '@belfry/domain/id'
import { type Db, inTransaction, readClock } from '../postgres/in-transaction.ts'
import type { DueRow } from '../tasks/due-work.ts'
import type { TaskOrigin } from '../tasks/replay-task.ts'
import { tasksBeside } from './expand-cron-jobs.ts'

/** The past occurrences to run, in their order, and how many of their tasks are due per second. Null: all of them now. */
export type BackfillPlan = TaskOrigin & { times: readonly Date[]; perSecond: number | null }

/**
 * Creates a task for each given past occurrence of a cron job that lacks one, or whose tasks were all cancelled and not
 * replayed; settles these cancelled tasks. Leaves occurrences that the scheduler has not planned yet, e.g. after an
 * outage, to the scheduler and `catch_up`. The task keeps the time of its occurrence in `execute_at`. Like a manual
 * trigger, it survives a change of the rule and may overlap other tasks. Returns null if the workspace does not have
 * the cron job. `isStored`: nothing was created, because the tasks of lacking occurrences may be in object storage.
 */
export async function backfillCronJob(
  db: Db,
  workspaceId: string,
  id: string,
  { times, perSecond, createdBy = null, depth = null }: BackfillPlan,
): Promise<{ due: DueRow[]; now: Date; isStored: boolean } | null> {
  return inTransaction(db, async tx => {
    // Backfills of the same cron job exclude each other.
    const lock = 'SELECT FROM cron_jobs WHERE id = $1 AND workspace_id = $2 FOR UPDATE'
    if ((await tx.query(lock, [id, workspaceId])).rowCount === 0) return null
    const now = await readClock(tx)
    // Ids sort by millisecond, and tasks that are due together start in the order of their ids.
    const ids = times.map((_, i) => newUuid(now.getTime() + i))
    const values = [id, workspaceId, times[0] ?? now, ids, times, perSecond, createdBy, depth]
    const { rows } = await tx.query<Row>({ name: 'backfill_cron_job', text, values })
    return { due: rows.filter(row => row.id !== null), now, isStored: rows.some(({ id }) => id === null) }
  })
}

/** The id is null in a row that refuses the backfill. */
type Row = DueRow | { id: null }

const isAllowed = 'NOT EXISTS (SELECT FROM stored)'
const from = `missing m JOIN cron_jobs j ON j.id = $1 AND j.workspace_id = $2 AND ${isAllowed}`

// Most tasks are created at most some minutes before their time, so their ids say where the scan may begin. Occurrences may be
// stored long before, e.g. by a hold after a restore, and have an index. A part of the log from after the first of them may have
// its task, or the task of an earlier backfill.
const text = `
  WITH known AS MATERIALIZED (
    SELECT id, occurrence_at AS at, false AS is_open FROM tasks
    WHERE cron_job_id = $1 AND workspace_id = $2 AND occurrence_at = ANY ($5::timestamptz[]) AND state <> 'cancelled'
    UNION ALL
    SELECT id, coalesce(occurrence_at, execute_at) AS at, state = 'cancelled' AND settled_at IS NULL AS is_open FROM tasks
    WHERE cron_job_id = $1 AND workspace_id = $2 AND id >= uuid_v7_floor($3::timestamptz - interval '1 hour')
      AND (occurrence_at IS NULL OR state = 'cancelled')
  ),
  missing AS (
    SELECT i.id, i.at, now() + coalesce((row_number() OVER (ORDER BY i.at) - 1) * interval '1 second' / $6::int, interval '0') AS due_at
    FROM unnest($4::uuid[], $5::timestamptz[]) AS i (id, at)
    WHERE i.at NOT IN (SELECT at FROM known WHERE NOT is_open)
      AND i.at < coalesce((SELECT next_run_at FROM cron_jobs WHERE id = $1), 'infinity')
  ),
  stored AS (
    SELECT FROM (SELECT min(at) AS at FROM missing) first
    JOIN cron_jobs j ON j.id = $1 AND j.workspace_id = $2
    JOIN log_parts p ON p.workspace_id = $2 AND p.state = 'stored'
      AND p.last_run_id >= uuid_v7_floor(greatest(first.at - interval '1 minute', j.created_at))
    WHERE first.at IS NOT NULL LIMIT 1
  ),
  settled AS (
    UPDATE tasks SET settled_at = now()
    WHERE id IN (SELECT k.id FROM known k JOIN missing USING (at) WHERE k.is_open) AND ${isAllowed}
  ),
  ${tasksBeside({ id: 'm.id', at: 'm.at', dueAt: 'm.due_at', from }, '$7::text', '$8::int2')}
  SELECT id, due_at AS "dueAt" FROM inserted UNION ALL SELECT NULL, NULL FROM stored`
