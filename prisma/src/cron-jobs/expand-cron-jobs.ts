import { type OccurrencePlan, planOccurrences } from '@belfry/domain/cron/plan-occurrences'
import { newUuid } from '@belfry/domain/id'
import { type Db, inTransaction, readClock, type Transaction } from '../postgres/in-transaction.ts'
import { arraysOf } from '../postgres/statement-input.ts'
import { queueIdOf } from '../queues/queue-sql.ts'
import type { WaitingRow } from '../tasks/due-work.ts'
import { copiedColumns, deadlineAfter } from '../tasks/insert-tasks.ts'
import { requested } from '../tasks/stored-request.ts'
import { storedLabels } from '../tasks/task-labels.ts'
import { originOf } from '../tasks/task-row.ts'
import { countedRequests, extraRequestBytes } from '../usage/count-storage.ts'
import { type CronJobCursor, cursorColumns, delayIn, scheduleOf } from './cron-job.ts'

export type Expansion = {
  /** How many cron jobs were expanded, or could not be read. */
  jobs: number
  /** Whether another call would find more cron jobs now. */
  hasMore: boolean
  /** The new tasks that wait for their time. */
  tasks: WaitingRow[]
  /** How many occurrences were skipped because their time passed while no scheduler ran. */
  missed: number
  /** Cron jobs whose rule this process cannot read, for example because of an unknown time zone. They are not changed. */
  unreadable: Array<{ id: string; error: unknown }>
  now: Date
}

// After a long outage, a cron job that catches up makes many tasks.
const maxTasksPerBatch = 5000
// Each task gets a copy of the request. A batch must be stored within the statement timeout.
const maxBytesPerBatch = 32 * 1024 * 1024

/**
 * Turns the occurrences within the look-ahead into tasks, for at most `limit` cron jobs, in one transaction. Any number of
 * schedulers may call this at once: each locks cron jobs that no other one holds. The transaction also moves each cron job
 * to its next occurrence. The cron jobs of suspended workspaces keep their position.
 * @param except - Cron jobs to skip, because this process cannot read them. Optional.
 */
export async function expandCronJobs(
  db: Db,
  { lookAheadMs, limit, except = [] }: { lookAheadMs: number; limit: number; except?: readonly string[] },
): Promise<Expansion> {
  return inTransaction(db, async tx => {
    const text = `
      SELECT ${cursorColumns} FROM cron_jobs
      WHERE next_run_at <= now() + $1 * interval '1 millisecond' AND id <> ALL ($3::uuid[])
        AND workspace_id <> ALL (ARRAY (SELECT s.id FROM suspended_workspaces s))
      ORDER BY next_run_at LIMIT $2 FOR UPDATE SKIP LOCKED`
    const values = [lookAheadMs, limit, except]
    const { rows } = await tx.query<CronJobCursor>({ name: 'due_cron_jobs', text, values })
    const expansion = await expandLocked(tx, rows, lookAheadMs)
    return { ...expansion, hasMore: expansion.hasMore || rows.length === limit }
  })
}

const cronJobsPerBatch = 500

/**
 * Turns all occurrences within the look-ahead into tasks. Repeats that, because one plan and one batch are limited.
 * @param id - The only cron job to expand. Default: all.
 * @returns The cron jobs whose rule this process cannot read.
 */
export async function expandAll(tx: Transaction, lookAheadMs: number, id: string | null = null): Promise<string[]> {
  const until = new Date((await readClock(tx)).getTime() + lookAheadMs)
  const unreadable: string[] = []
  const text = `
    SELECT ${cursorColumns} FROM cron_jobs
    WHERE next_run_at <= $1 AND id <> ALL ($2::uuid[]) AND ($3::uuid IS NULL OR id = $3)
    ORDER BY next_run_at LIMIT ${cronJobsPerBatch} FOR UPDATE`
  for (;;) {
    const { rows } = await tx.query<CronJobCursor>(text, [until, unreadable, id])
    if (rows.length === 0) return unreadable
    const expansion = await expandLocked(tx, rows, lookAheadMs)
    unreadable.push(...expansion.unreadable.map(job => job.id))
  }
}

/**
 * Expands cron jobs whose rows the transaction has locked.
 * @param again - Passed occurrences that it also makes. Default: none.
 */
export async function expandLocked(
  tx: Transaction,
  jobs: readonly CronJobCursor[],
  lookAheadMs: number,
  again: readonly Date[] = [],
): Promise<Expansion> {
  const now = await readClock(tx)
  const until = new Date(now.getTime() + lookAheadMs)
  const plans: JobPlan[] = []
  const unreadable: Expansion['unreadable'] = []
  let [planned, bytes] = [0, 0]
  let hasMore = false
  for (const job of jobs) {
    if (job.nextRunAt === null || (job.nextRunAt > until && again.length === 0)) continue
    if (planned > maxTasksPerBatch || bytes >= maxBytesPerBatch) {
      hasMore = true
      break
    }
    try {
      const max = Math.max(1, Math.floor((maxBytesPerBatch - bytes) / Math.max(1, job.bytes)))
      const times = { next: job.nextRunAt, now, until, delayMs: delayIn(job.qstash), max }
      const plan = planOccurrences(scheduleOf(job), job.catchUp, times)
      const occurrences = [...again.map(at => ({ at, missed: false })), ...plan.occurrences]
      plans.push({ ...plan, occurrences, jobId: job.id })
      planned += occurrences.length
      bytes += occurrences.length * job.bytes
      hasMore ||= plan.next !== null && plan.next <= until
    } catch (error) {
      unreadable.push({ id: job.id, error })
    }
  }
  const tasks = planned === 0 ? [] : await insertOccurrences(tx, plans, now)
  if (plans.length > 0) await moveCursors(tx, plans)
  if (unreadable.length > 0) await markUnreadable(tx, unreadable)
  const missed = plans.flatMap(plan => plan.occurrences).filter(occurrence => occurrence.missed).length
  return { jobs: plans.length + unreadable.length, hasMore, tasks, missed, unreadable, now }
}

type JobPlan = OccurrencePlan & { jobId: string }

// An occurrence that the user cancelled stays cancelled, also when a pause or a change of the rule moves the cursor back.
async function insertOccurrences(tx: Transaction, plans: readonly JobPlan[], now: Date): Promise<WaitingRow[]> {
  const text = `
    WITH input AS (
      SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::boolean[]) AS i (id, cron_job_id, at, missed)
    ),
    inserted AS (
      INSERT INTO tasks (id, workspace_id, source, state, state_reason, execute_at, due_at, occurrence_at, cron_job_id,
                         has_callbacks, created_at, finished_at, queue_id, expires_at)
      SELECT i.id, j.workspace_id, 'cron', CASE WHEN i.missed THEN 'cancelled' ELSE 'pending' END::task_state,
             CASE WHEN i.missed THEN 'missed' END, d.at, d.at, i.at, j.id,
             j.callbacks IS NOT NULL, clock_timestamp(), CASE WHEN i.missed THEN now() END,
             ${queueIdOf('j.workspace_id', 'j.queue')}, ${deadlineAfter('d.at', 'j.')}
      FROM input i JOIN cron_jobs j ON j.id = i.cron_job_id
      -- A schedule of the QStash interface may have a delay.
      CROSS JOIN LATERAL (
        SELECT i.at + coalesce((j.qstash::json ->> 'delayMs')::bigint, 0) * interval '1 millisecond' AS at
      ) d
      WHERE NOT EXISTS (
        SELECT FROM tasks t WHERE t.cron_job_id = i.cron_job_id AND t.occurrence_at = i.at
          AND t.state = 'cancelled' AND t.state_reason = 'user'
      )
      ON CONFLICT (cron_job_id, occurrence_at) WHERE occurrence_at IS NOT NULL AND state <> 'cancelled' DO NOTHING
      RETURNING id, workspace_id, cron_job_id, state, due_at
    ),
    ${copiedRequests()}
    SELECT n.id, n.due_at AS "dueAt", n.workspace_id AS "workspaceId", ${originOf('j.url')} AS origin
    FROM inserted n JOIN cron_jobs j ON j.id = n.cron_job_id WHERE n.state = 'pending'`
  // Ids sort by millisecond, and the tasks of a cron job are listed in the order of their ids.
  const occurrences = plans.flatMap(({ jobId, occurrences }) =>
    occurrences.map((one, i) => ({ jobId, ...one, id: newUuid(now.getTime() + i) })),
  )
  const values = arraysOf(occurrences, 'id', 'jobId', 'at', 'missed')
  const { rows } = await tx.query<WaitingRow>({ name: 'insert_occurrences', text, values })
  return rows
}

/**
 * Returns the CTEs that store tasks of a cron job `j` other than its occurrences.
 * @param task - The SQL of its id, its time and its due time, and the rows that these are from, as the text after FROM.
 */
export function tasksBeside(
  { id, at, dueAt, from }: Record<'id' | 'at' | 'dueAt' | 'from', string>,
  createdBy: string,
  depth: string,
): string {
  return `inserted AS (
      INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, cron_job_id, has_callbacks, queue_id, expires_at)
      SELECT ${id}, j.workspace_id, 'cron', ${at}, ${dueAt}, j.id, j.callbacks IS NOT NULL,
             ${queueIdOf('j.workspace_id', 'j.queue')}, ${deadlineAfter(dueAt, 'j.')}
      FROM ${from}
      RETURNING id, due_at, cron_job_id
    ),
    ${copiedRequests(createdBy, depth)}`
}

/**
 * Returns the CTEs that give the tasks `inserted` the requests of their cron jobs, and record the storage that these
 * use. They copy within the database, so payloads do not travel.
 */
function copiedRequests(createdBy = 'NULL', depth = 'NULL'): string {
  const from = 'inserted n JOIN cron_jobs j ON j.id = n.cron_job_id'
  const isReport = 'CASE WHEN j.subscription_id IS NOT NULL THEN true END'
  const origin = { task_id: 'n.id', created_by: createdBy, depth, is_report: isReport }
  const of = (column: string) => `j.${column}`
  return `${requested(copiedColumns, origin, of, from)},
    ${storedLabels(`SELECT j.workspace_id, n.id AS task_id, j.labels FROM ${from}`)},
    ${countedRequests(`
      SELECT j.workspace_id, j.payload, ${extraRequestBytes(of)} AS extra_bytes
      FROM ${from}`)}`
}

async function moveCursors(tx: Transaction, plans: readonly JobPlan[]): Promise<void> {
  const text = `
    UPDATE cron_jobs j SET next_run_at = i.next, unreadable_since = NULL
    FROM unnest($1::uuid[], $2::timestamptz[]) AS i (id, next) WHERE j.id = i.id`
  await tx.query({ name: 'move_cron_cursors', text, values: arraysOf(plans, 'jobId', 'next') })
}

async function markUnreadable(tx: Transaction, unreadable: Expansion['unreadable']): Promise<void> {
  const text = `UPDATE cron_jobs SET unreadable_since = clock_timestamp() WHERE id = ANY ($1) AND unreadable_since IS NULL`
  await tx.query(text, [unreadable.map(({ id }) => id)])
}
