import { catchUps, caughtUpOn, lateMs } from '@belfry/domain/cron/plan-occurrences'
import { NIL_UUID } from '@belfry/domain/id'
import type { StateReason } from '@belfry/domain/task-state'
import type { Db } from '../postgres/in-transaction.ts'
import { advanceQueuesOf } from '../queues/advance-queues.ts'

const jobsPerStatement = 1_000

/**
 * Cancels the stored occurrences whose time passed while no dispatcher took tasks, except for those that their cron jobs
 * catch up on. A dispatcher calls it before it enters, so no occurrence is claimed earlier. Several may call it at once.
 * Occurrences that are not stored yet are missed when the scheduler plans them.
 * @returns How many occurrences were cancelled.
 */
export async function cancelMissed(db: Db): Promise<number> {
  const { rows } = await db.query<{ from: Date; to: Date }>({ name: 'read_gap', text: gapStatement })
  const gap = rows[0]
  if (gap === undefined || gap.from >= gap.to) return 0
  let cancelled = 0
  for (let after: string | null = NIL_UUID; after !== null; ) {
    const values: unknown[] = [gap.from, gap.to, after, jobsPerStatement]
    const { rows: pages } = await db.query<Page>({ name: 'cancel_missed', text: cancelStatement, values })
    const [{ last, ids } = { last: null, ids: [] }] = pages
    if (ids.length > 0) await advanceQueuesOf(db, ids)
    cancelled += ids.length
    after = last
  }
  return cancelled
}

/** The cancelled tasks of some cron jobs. `last`: the id of the last one of these cron jobs; null after all of them. */
type Page = { last: string | null; ids: string[] }

// A dispatcher that was killed has left its last heartbeat. A stopped one has left none.
const gapStatement = `
  SELECT greatest(max(seen_at), 'epoch') AS "from", clock_timestamp() - interval '${lateMs} milliseconds' AS "to"
  FROM dispatchers WHERE NOT quarantine`

const reason = 'missed' satisfies StateReason

// "NOT IN" rather than "= pending", for which the planner may choose the index of all due work.
const isUnstarted = `t.state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled') AND t.waits_for = 0`

// While the cursor of a cron job is behind, the scheduler will add at least one later occurrence, and catch up on that. An
// occurrence that waits for its queue is not missed. LATERAL reads the tasks by cron job with any statistics of the planner.
const cancelStatement = `
  WITH jobs AS (
    SELECT id, greatest(CASE catch_up ${catchUps.map(name => `WHEN '${name}' THEN ${caughtUpOn[name]}`).join(' ')} END
                        - CASE WHEN next_run_at < $2 THEN 1 ELSE 0 END, 0) AS kept
    FROM cron_jobs WHERE id > $3 ORDER BY id LIMIT $4
  ),
  missed AS MATERIALIZED (
    SELECT t.id FROM jobs j CROSS JOIN LATERAL (
      SELECT t.id FROM tasks t
      WHERE t.cron_job_id = j.id AND t.finished_at IS NULL AND t.occurrence_at IS NOT NULL AND ${isUnstarted}
        AND t.execute_at > $1 AND t.execute_at < $2
      ORDER BY t.execute_at DESC OFFSET j.kept
    ) t
  ),
  locked AS (
    SELECT t.id FROM missed m CROSS JOIN LATERAL (
      SELECT t.id FROM tasks t WHERE t.id = m.id AND ${isUnstarted} FOR UPDATE SKIP LOCKED
    ) t
  ),
  cancelled AS (
    UPDATE tasks t SET state = 'cancelled', state_reason = '${reason}', finished_at = now(), updated_at = now()
    FROM locked WHERE t.id = locked.id
    RETURNING t.id
  )
  SELECT (SELECT id FROM jobs ORDER BY id DESC LIMIT 1) AS last, ARRAY (SELECT id FROM cancelled) AS ids`
