import { catchUps, caughtUpOn, countCaughtUp, lateMs } from '@belfry/domain/cron/plan-occurrences'
import { NIL_UUID } from '@belfry/domain/id'
import type { StateReason } from '@belfry/domain/task-state'
import type { Db } from '../postgres/in-transaction.ts'
import { advanceQueuesOf } from '../queues/advance-queues.ts'
import { type CronJobCursor, cursorColumns, delayIn, readableScheduleOf } from './cron-job.ts'

const jobsPerStatement = 1_000

/**
 * Cancels the stored occurrences whose time passed while no dispatcher took tasks, except for those that their cron
 * jobs catch up on. A dispatcher calls it before it takes tasks, and so before it can claim a missed occurrence.
 * Several may call it at once. Occurrences that are not stored yet are missed when the scheduler plans them.
 * @returns How many occurrences were cancelled.
 */
export async function cancelMissed(db: Db): Promise<number> {
  const { rows } = await db.query<Gap>({ name: 'read_gap', text: gapStatement })
  const gap = rows[0]
  if (gap === undefined || gap.from >= gap.to) return 0
  let cancelled = 0
  for (let after: string | null = NIL_UUID; after !== null; ) {
    const { last, ids, isOutdated }: Page = await cancelPage(db, gap, after)
    if (ids.length > 0) await advanceQueuesOf(db, ids)
    cancelled += ids.length
    if (!isOutdated) after = last
  }
  return cancelled
}

type Gap = { from: Date; to: Date }

/**
 * The cancelled tasks of some cron jobs. `last`: the id of the last one of these cron jobs; null after all of them.
 * `isOutdated`: a scheduler has planned occurrences of one of them meanwhile.
 */
type Page = { last: string | null; ids: string[]; isOutdated: boolean }

async function cancelPage(db: Db, { from, to }: Gap, after: string): Promise<Page> {
  const behind = { name: 'read_unplanned', text: unplannedStatement, values: [to, after, jobsPerStatement] }
  const { rows: jobs } = await db.query<CronJobCursor>(behind)
  const ids = jobs.map(({ id }) => id)
  const cursors = jobs.map(({ nextRunAt }) => nextRunAt)
  const counts = jobs.map(job => unplannedOf(job, to))
  const values = [from, to, after, jobsPerStatement, ids, cursors, counts]
  const { rows } = await db.query<Page>({ name: 'cancel_missed', text: cancelStatement, values })
  return rows[0] ?? { last: null, ids: [], isOutdated: false }
}

// Returns 0 for a rule that cannot be read: the schedulers do not plan it either.
function unplannedOf(job: CronJobCursor, dueBefore: Date): number {
  const schedule = readableScheduleOf(job)
  if (job.nextRunAt === null || schedule === null) return 0
  return countCaughtUp(schedule, job.catchUp, job.nextRunAt, new Date(dueBefore.getTime() - delayIn(job.qstash)))
}

// `dispatching` outlives the rows of dispatchers. After a crash of PostgreSQL it has a heartbeat that may be some seconds old,
// and nothing that waited at the last one may count as missed.
const gapStatement = `
  SELECT greatest(k.ended_at, d.seen_at,
                  CASE WHEN k.seen_at > greatest(k.ended_at, d.seen_at) THEN k.seen_at + interval '${lateMs} milliseconds' END) AS "from",
         clock_timestamp() - interval '${lateMs} milliseconds' AS "to"
  FROM dispatching k, (SELECT max(seen_at) AS seen_at FROM dispatchers WHERE NOT quarantine) d`

const reason = 'missed' satisfies StateReason

// "NOT IN" rather than "= pending", for which the planner may choose the index of all due work.
const isUnstarted = `t.state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled') AND t.waits_for = 0`

const unplannedStatement = `
  SELECT ${cursorColumns} FROM cron_jobs
  WHERE id IN (SELECT id FROM cron_jobs WHERE id > $2 ORDER BY id LIMIT $3) AND catch_up <> 'none' AND next_run_at < $1`

// While the cursor of a cron job is behind, the scheduler will add later occurrences, and catch up on these. An occurrence
// that waits for its queue is not missed. LATERAL reads the tasks by cron job with any statistics of the planner.
const cancelStatement = `
  WITH jobs AS (
    SELECT j.id,
           CASE catch_up ${catchUps.map(name => `WHEN '${name}' THEN ${caughtUpOn[name]}`).join(' ')} END - coalesce(u.count, 0) AS kept,
           catch_up <> 'none' AND j.next_run_at < $2 AND u.id IS NULL AS is_outdated
    FROM cron_jobs j LEFT JOIN unnest($5::uuid[], $6::timestamptz[], $7::int[]) AS u (id, next_run_at, count)
      ON u.id = j.id AND u.next_run_at = j.next_run_at
    WHERE j.id > $3 ORDER BY j.id LIMIT $4
  ),
  missed AS MATERIALIZED (
    SELECT t.id FROM jobs j CROSS JOIN LATERAL (
      SELECT t.id FROM tasks t
      WHERE t.cron_job_id = j.id AND t.finished_at IS NULL AND t.occurrence_at IS NOT NULL AND ${isUnstarted}
        AND t.execute_at > $1 AND t.execute_at < $2
      ORDER BY t.execute_at DESC OFFSET j.kept
    ) t
    WHERE NOT j.is_outdated
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
  SELECT (SELECT id FROM jobs ORDER BY id DESC LIMIT 1) AS last, ARRAY (SELECT id FROM cancelled) AS ids,
         coalesce((SELECT bool_or(is_outdated) FROM jobs), false) AS "isOutdated"`
