import { type CronSchedule, nextScheduled } from '@belfry/domain/cron/cron-schedule'
import { newUuid } from '@belfry/domain/id'
import type { StateReason } from '@belfry/domain/task-state'
import { type Db, inTransaction, readClock, type Transaction } from '../postgres/in-transaction.ts'
import { queueIdOf, unblocked } from '../queues/queue-sql.ts'
import type { DueRow } from '../tasks/due-work.ts'
import type { TaskOrigin } from '../tasks/replay-task.ts'
import { changedValue, requestColumnOf } from '../tasks/stored-request.ts'
import { changedLabels } from '../tasks/task-labels.ts'
import { changedRequests } from '../usage/count-storage.ts'
import {
  type CronJobCursor,
  type CronJobFields,
  columnOf,
  cursorColumns,
  delayIn,
  filledLabels,
  scheduleOf,
} from './cron-job.ts'
import { type Expansion, expandAll, expandLocked, tasksBeside } from './expand-cron-jobs.ts'

export type NewCronJob = CronJobFields & { id: string; workspaceId: string; createdBy?: string | null }

/** Stores a cron job together with its occurrences within the look-ahead. */
export async function createCronJob(db: Db, job: NewCronJob, lookAheadMs: number): Promise<Expansion> {
  return inTransaction(db, async tx => {
    const now = await readClock(tx)
    const nextRunAt = nextScheduled(scheduleOf(job), now.getTime())
    const fields = Object.keys(columnOf) as Array<keyof typeof columnOf>
    const columns = ['id', 'workspace_id', 'next_run_at', 'created_by', ...fields.map(field => columnOf[field])]
    const nextRun = nextRunAt && new Date(nextRunAt.atMs)
    const values = [job.id, job.workspaceId, nextRun, job.createdBy ?? null, ...fields.map(field => job[field])]
    const text = `INSERT INTO cron_jobs (${columns.join(', ')}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})
                  RETURNING ${cursorColumns}`
    const { rows } = await tx.query({ name: 'insert_cron_job', text, values })
    return expandLocked(tx, rows, lookAheadMs)
  })
}

/** The new values of a cron job. Absent fields stay as they are. */
export type CronJobChange = Partial<CronJobFields> & { updatedBy?: string }

/**
 * `moved` carries the previous name of the cron job, and whether anything has changed. `queues`: its tasks may have left
 * them, so `advanceQueues` must follow the commit. `unknown`: the workspace does not have the cron job. `never_runs`: the
 * new rule never occurs, so the change was rejected.
 */
export type CronJobMove =
  | { kind: 'moved'; expansion: Expansion; name: string; queues: string[]; isChanged: boolean }
  | { kind: 'unknown' }
  | { kind: 'never_runs' }

const scheduleFields = ['cron', 'timezone', 'startsAt', 'endsAt'] as const
const requestFields = [
  'name',
  'labels',
  ...(Object.keys(requestColumnOf) as Array<keyof typeof requestColumnOf>),
] as const

/**
 * Pauses a cron job. When this resolves, the tasks that it had made before cannot start any more. The transaction
 * cancels the tasks that have not started, and the row lock of each decides between this and a claim.
 */
export async function pauseCronJob(db: Db, workspaceId: string, id: string): Promise<CronJobMove> {
  return withCronJob(db, workspaceId, id, async (tx, job) => {
    const isPaused = job.pausedAt !== null
    await expandAll(tx, 0, id)
    // Also while it is paused: a manual trigger may wait.
    await cancelUnstarted(tx, id, 'cronjob_paused', 'all')
    const text = `
      UPDATE cron_jobs SET paused_at = coalesce(paused_at, clock_timestamp()), void_before = clock_timestamp(), next_run_at = NULL,
                           unreadable_since = NULL, updated_at = clock_timestamp()
      WHERE id = $1`
    await tx.query(text, [id])
    return isPaused ? 'unchanged' : expandLocked(tx, [], 0)
  })
}

/** Resumes a paused cron job from now on. An occurrence that the user cancelled before the pause stays cancelled. */
export async function resumeCronJob(db: Db, workspaceId: string, id: string, lookAheadMs: number) {
  return withCronJob(db, workspaceId, id, async (tx, job) => {
    if (job.pausedAt === null) return 'unchanged'
    const next = nextScheduled(scheduleOf(job), (await readClock(tx)).getTime())
    const health = { paused_reason: null, failing_since: null, failing_warned_at: null, health_changed_at: null }
    return update(tx, id, { paused_at: null, ...health, next_run_at: next && new Date(next.atMs) }, lookAheadMs)
  })
}

/** Deletes a cron job, and cancels its tasks that have not started in the same transaction. */
export async function deleteCronJob(db: Db, workspaceId: string, id: string): Promise<CronJobMove> {
  return withCronJob(db, workspaceId, id, async tx => {
    await cancelUnstarted(tx, id, 'cronjob_deleted', 'all')
    await tx.query('DELETE FROM cron_jobs WHERE id = $1', [id])
    return expandLocked(tx, [], 0)
  })
}

/**
 * Changes a cron job. When the rule changes, occurrences of the new rule replace those that have not started. Otherwise the
 * occurrences that have not started get the new request.
 */
export async function changeCronJob(
  db: Db,
  workspaceId: string,
  id: string,
  asked: CronJobChange,
  lookAheadMs: number,
): Promise<CronJobMove> {
  return withCronJob(db, workspaceId, id, async (tx, job) => {
    const change = await withFilledLabels(tx, id, asked)
    const given = Object.entries(change) as Array<[keyof typeof changedColumnOf, unknown]>
    const columns = Object.fromEntries(given.map(([field, value]) => [changedColumnOf[field], value]))
    const reschedules =
      scheduleFields.some(field => isChanged(job[field], change[field])) ||
      (change.qstash !== undefined && delayIn(change.qstash) !== delayIn(job.qstash))
    if (!reschedules) {
      await changeUnstarted(tx, id, change)
      return update(tx, id, columns, lookAheadMs)
    }
    const schedule = scheduleOf({ ...job, ...change })
    const now = (await readClock(tx)).getTime()
    if (nextScheduled(schedule, now) === null) return null
    await expandAll(tx, 0, id)
    const cancelled = await cancelUnstarted(tx, id, 'cronjob_changed', 'occurrences', delayIn(job.qstash))
    // An occurrence that was due is made again if the new rule has it too. The rule has no others in the past.
    const again = cancelled.filter(at => at.getTime() <= now && isOccurrence(schedule, at.getTime()))
    const next = job.pausedAt === null ? nextScheduled(schedule, now) : null
    const cursor = { next_run_at: next && new Date(next.atMs), unreadable_since: null }
    return update(tx, id, { ...columns, ...cursor, void_before: await readClock(tx) }, lookAheadMs, again)
  })
}

function isOccurrence(schedule: CronSchedule, atMs: number): boolean {
  return nextScheduled(schedule, atMs - 1)?.atMs === atMs
}

// The labels depend on the payload, so a change of one of them changes the other.
async function withFilledLabels(tx: Transaction, id: string, change: CronJobChange): Promise<CronJobChange> {
  if (change.labels === undefined && change.payload === undefined) return change
  const text = `
    SELECT written_labels AS "writtenLabels", payload, content_type AS "contentType" FROM cron_jobs WHERE id = $1`
  const { rows } = await tx.query<Pick<CronJobFields, 'writtenLabels' | 'payload' | 'contentType'>>(text, [id])
  const { writtenLabels = null, payload = null, contentType = null } = rows[0] ?? {}
  const labels = change.labels === undefined ? writtenLabels : change.labels
  if (change.labels === undefined && !labels?.length) return change
  return { ...change, ...filledLabels(labels, { payload, contentType, ...change }) }
}

const changedColumnOf = { ...columnOf, updatedBy: 'updated_by' } as const

type LockedCronJob = CronJobCursor & { name: string; queues: string[] }

// The row lock excludes the scheduler and other changes of the same cron job until the transaction ends.
async function withCronJob(
  db: Db,
  workspaceId: string,
  id: string,
  change: (tx: Transaction, job: LockedCronJob) => Promise<Expansion | 'unchanged' | null>,
): Promise<CronJobMove> {
  return inTransaction(db, async tx => {
    const left =
      'SELECT DISTINCT queue_id FROM tasks WHERE cron_job_id = $1 AND finished_at IS NULL AND queue_id IS NOT NULL'
    const text = `
      SELECT ${cursorColumns}, name, ARRAY (${left}) AS queues
      FROM cron_jobs WHERE id = $1 AND workspace_id = $2 FOR UPDATE`
    const { rows } = await tx.query<LockedCronJob>(text, [id, workspaceId])
    if (!rows[0]) return { kind: 'unknown' }
    const { name, queues } = rows[0]
    const done = await change(tx, rows[0])
    if (done === null) return { kind: 'never_runs' }
    const isChanged = done !== 'unchanged'
    return { kind: 'moved', expansion: isChanged ? done : await expandLocked(tx, [], 0), name, queues, isChanged }
  })
}

async function update(
  tx: Transaction,
  id: string,
  columns: Record<string, unknown>,
  lookAheadMs: number,
  again: readonly Date[] = [],
): Promise<Expansion> {
  const sets = Object.keys(columns).map((column, i) => `${column} = ${changedValue(column, `$${i + 2}`)}, `)
  const text = `UPDATE cron_jobs SET ${sets.join('')}updated_at = clock_timestamp() WHERE id = $1 RETURNING ${cursorColumns}`
  const { rows } = await tx.query<CronJobCursor>(text, [id, ...Object.values(columns)])
  return expandLocked(tx, rows, lookAheadMs, again)
}

// "NOT IN" rather than "= pending", for which the planner may choose the index of all due work.
const unstarted = `cron_job_id = $1 AND finished_at IS NULL
  AND state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled')`

// Returns the cancelled occurrences without those that were held, or whose user had moved them to later. A task of a manual
// trigger is not an occurrence. Uses clock_timestamp(), because now() may precede a wait for the row lock, and so the creation
// of these tasks.
async function cancelUnstarted(
  tx: Transaction,
  id: string,
  reason: StateReason,
  which: 'all' | 'occurrences',
  delayMs = 0,
): Promise<Date[]> {
  const text = `
    WITH cancelled AS (
      UPDATE tasks SET state = 'cancelled', state_reason = $2, finished_at = clock_timestamp(), updated_at = clock_timestamp()
      WHERE ${unstarted} ${which === 'all' ? '' : 'AND occurrence_at IS NOT NULL'}
      RETURNING occurrence_at, execute_at, waits_for
    )
    SELECT occurrence_at AS at FROM cancelled
    WHERE waits_for <> 2 AND execute_at <= greatest(clock_timestamp(), occurrence_at + $3 * interval '1 millisecond')
    ORDER BY occurrence_at`
  const { rows } = await tx.query<{ at: Date }>(text, [id, reason, delayMs])
  return rows.map(({ at }) => at)
}

// Rewrites the task's row too, so this and a claim of the task exclude each other.
async function changeUnstarted(tx: Transaction, id: string, change: CronJobChange): Promise<void> {
  const occurrences = `${unstarted} AND occurrence_at IS NOT NULL`
  if (change.maxAgeMs !== undefined) {
    const text = `UPDATE tasks SET expires_at = execute_at + $2::int * interval '1 millisecond' WHERE ${occurrences}`
    await tx.query(text, [id, change.maxAgeMs])
  }
  const fields = requestFields.filter(field => field in change)
  if (fields.length === 0) return
  if ('labels' in change) await tx.query(`SELECT FROM tasks WHERE ${occurrences} FOR UPDATE`, [id])
  const sets = fields.map((field, i): [string, string] => {
    const column = columnOf[field]
    return [column, changedValue(column, `$${i + 2}`)]
  })
  const parameterOf = (field: (typeof requestFields)[number]) => `$${fields.indexOf(field) + 2}`
  const queued =
    'queue' in change
      ? `, queue_id = ${queueIdOf('workspace_id', `${parameterOf('queue')}::text`)}, waits_for = ${unblocked}`
      : ''
  const callbacks = 'callbacks' in change ? `, has_callbacks = ${parameterOf('callbacks')}::text IS NOT NULL` : ''
  const parts = [
    `task AS (
      UPDATE tasks SET updated_at = now()${queued}${callbacks}
      WHERE ${occurrences}
      RETURNING id, workspace_id
    )`,
  ]
  if ('labels' in change) parts.push(changedLabels(parameterOf('labels')))
  parts.push(changedRequests(new Map(sets)))
  const text = `
    WITH ${parts.join(',\n    ')}
    SELECT FROM task`
  await tx.query(text, [id, ...fields.map(field => change[field])])
}

function isChanged(before: string | Date | null, after: string | Date | null | undefined): boolean {
  return after !== undefined && before?.valueOf() !== after?.valueOf()
}

/** Creates a task of a cron job that is due now. Returns null when the workspace has no such cron job. */
export async function triggerCronJob(
  db: Db,
  workspaceId: string,
  id: string,
  { createdBy = null, depth = null }: TaskOrigin = {},
): Promise<DueRow | null> {
  const from = 'cron_jobs j WHERE j.id = $1 AND j.workspace_id = $2'
  const text = `
    WITH ${tasksBeside({ id: '$3', at: 'now()', dueAt: 'now()', from }, '$4::text', '$5::int2')}
    SELECT id, due_at AS "dueAt" FROM inserted`
  const values = [id, workspaceId, newUuid(), createdBy, depth]
  const { rows } = await db.query<DueRow>({ name: 'trigger_cron_job', text, values })
  return rows[0] ?? null
}
