import { nextScheduled, type StateReason } from '@belfry/domain'
import { type Db, inTransaction, readClock, type Transaction } from '../postgres/in-transaction.ts'
import { changedPayloads } from '../usage/count-storage.ts'
import { type CronJobCursor, type CronJobFields, columnOf, cursorColumns, scheduleOf } from './cron-job.ts'
import { type Expansion, expandLocked } from './expand-cron-jobs.ts'

/** The fields of a cron job that change; an absent one stays. */
export type CronJobChange = Partial<CronJobFields>

/**
 * `moved` carries the cron job's name as it was, and whether there was anything to change. `unknown`: the workspace has no
 * such cron job. `never_runs`: the new rule has no occurrence; nothing was changed.
 */
export type CronJobMove =
  | { kind: 'moved'; expansion: Expansion; name: string; isChanged: boolean }
  | { kind: 'unknown' }
  | { kind: 'never_runs' }

const scheduleFields = ['cron', 'timezone', 'startsAt', 'endsAt'] as const
const requestFields = [
  ...(['name', 'url', 'method', 'headers', 'payload'] as const),
  ...(['maxRetries', 'backoff', 'baseDelayMs', 'maxDelayMs', 'timeoutMs'] as const),
]

/**
 * Stops a cron job. Once this has resolved, nothing of it starts: an occurrence that has not started is cancelled in the
 * same transaction, and its row decides between this and a claim.
 */
export async function pauseCronJob(db: Db, workspaceId: string, id: string): Promise<CronJobMove> {
  return withCronJob(db, workspaceId, id, async (tx, job) => {
    if (job.pausedAt !== null) return 'unchanged'
    const expansion = await expandLocked(tx, [job], 0)
    await cancelUnstarted(tx, id, 'cronjob_paused', 'all')
    const text = `
      UPDATE cron_jobs SET paused_at = clock_timestamp(), void_before = clock_timestamp(), next_run_at = NULL,
                           unreadable_since = NULL, updated_at = clock_timestamp()
      WHERE id = $1`
    await tx.query(text, [id])
    return { ...expansion, tasks: [] }
  })
}

/** Starts a paused cron job again, from now. An occurrence that its user cancelled before the pause stays cancelled. */
export async function resumeCronJob(
  db: Db,
  workspaceId: string,
  id: string,
  lookAheadMs: number,
): Promise<CronJobMove> {
  return withCronJob(db, workspaceId, id, async (tx, job) => {
    if (job.pausedAt === null) return 'unchanged'
    const next = nextScheduled(scheduleOf(job), (await readClock(tx)).getTime())
    return update(tx, id, { paused_at: null, next_run_at: next && new Date(next.atMs) }, lookAheadMs)
  })
}

/** Deletes a cron job; its occurrences that have not started are cancelled in the same transaction. */
export async function deleteCronJob(db: Db, workspaceId: string, id: string): Promise<CronJobMove> {
  return withCronJob(db, workspaceId, id, async tx => {
    await cancelUnstarted(tx, id, 'cronjob_deleted', 'all')
    await tx.query('DELETE FROM cron_jobs WHERE id = $1', [id])
    return nothingNew(tx)
  })
}

/**
 * Changes a cron job. When the rule changes, the occurrences that have not started are replaced by those of the new rule;
 * otherwise they send what the change says.
 */
export async function changeCronJob(
  db: Db,
  workspaceId: string,
  id: string,
  change: CronJobChange,
  lookAheadMs: number,
): Promise<CronJobMove> {
  return withCronJob(db, workspaceId, id, async (tx, job) => {
    const given = Object.entries(change) as Array<[keyof CronJobFields, unknown]> // its own entries
    const columns = Object.fromEntries(given.map(([field, value]) => [columnOf[field], value]))
    const reschedules = scheduleFields.some(field => isChanged(job[field], change[field]))
    if (!reschedules) {
      await changeUnstarted(tx, id, change)
      return update(tx, id, columns, lookAheadMs)
    }
    const schedule = scheduleOf({ ...job, ...change })
    const now = (await readClock(tx)).getTime()
    if (nextScheduled(schedule, now) === null) return null
    await expandLocked(tx, [job], 0)
    const firstCancelled = await cancelUnstarted(tx, id, 'cronjob_changed', 'occurrences')
    // One that was due this very moment is replaced too, if the new rule also has it.
    const from = firstCancelled === null ? now : Math.min(now, firstCancelled.getTime() - 1)
    const next = job.pausedAt === null ? nextScheduled(schedule, from) : null
    const cursor = { next_run_at: next && new Date(next.atMs), unreadable_since: null }
    return update(tx, id, { ...columns, ...cursor, void_before: await readClock(tx) }, lookAheadMs)
  })
}

// The row's lock keeps the scheduler and other changes of the same cron job away until the end.
async function withCronJob(
  db: Db,
  workspaceId: string,
  id: string,
  change: (tx: Transaction, job: CronJobCursor) => Promise<Expansion | 'unchanged' | null>,
): Promise<CronJobMove> {
  return inTransaction(db, async tx => {
    const text = `SELECT ${cursorColumns}, name FROM cron_jobs WHERE id = $1 AND workspace_id = $2 FOR UPDATE`
    const { rows } = await tx.query<CronJobCursor & { name: string }>(text, [id, workspaceId])
    if (!rows[0]) return { kind: 'unknown' }
    const { name } = rows[0]
    const done = await change(tx, rows[0])
    if (done === null) return { kind: 'never_runs' }
    const isChanged = done !== 'unchanged'
    return { kind: 'moved', expansion: isChanged ? done : await nothingNew(tx), name, isChanged }
  })
}

async function nothingNew(tx: Transaction): Promise<Expansion> {
  return expandLocked(tx, [], 0)
}

async function update(
  tx: Transaction,
  id: string,
  columns: Record<string, unknown>,
  lookAheadMs: number,
): Promise<Expansion> {
  const sets = Object.keys(columns).map((column, i) => `${column} = $${i + 2}, `)
  const text = `UPDATE cron_jobs SET ${sets.join('')}updated_at = clock_timestamp() WHERE id = $1 RETURNING ${cursorColumns}`
  const { rows } = await tx.query<CronJobCursor>(text, [id, ...Object.values(columns)])
  return expandLocked(tx, rows, lookAheadMs)
}

// "NOT IN" rather than "= pending": the latter would offer the planner the index of everything that is due.
const unstarted = `cron_job_id = $1 AND finished_at IS NULL
  AND state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled')`

// Returns the earliest occurrence among those cancelled. A manual trigger is no occurrence. The time is the clock's,
// because now() may lie before a wait for the row, and so before the creation of these tasks.
async function cancelUnstarted(
  tx: Transaction,
  id: string,
  reason: StateReason,
  which: 'all' | 'occurrences',
): Promise<Date | null> {
  const text = `
    WITH cancelled AS (
      UPDATE tasks SET state = 'cancelled', state_reason = $2, finished_at = clock_timestamp(), updated_at = clock_timestamp()
      WHERE ${unstarted} ${which === 'all' ? '' : 'AND occurrence_at IS NOT NULL'}
      RETURNING occurrence_at
    )
    SELECT min(occurrence_at) AS first FROM cancelled`
  const { rows } = await tx.query<{ first: Date | null }>(text, [id, reason])
  return rows[0]?.first ?? null
}

// The task's row is rewritten too, so that this and a claim of it exclude each other.
async function changeUnstarted(tx: Transaction, id: string, change: CronJobChange): Promise<void> {
  const fields = requestFields.filter(field => field in change)
  if (fields.length === 0) return
  const sets = fields.map((field, i) => `${columnOf[field]} = $${i + 2}`)
  const text = `
    WITH task AS (
      UPDATE tasks SET updated_at = now() WHERE ${unstarted} AND occurrence_at IS NOT NULL RETURNING id, workspace_id
    )${'payload' in change ? `, ${changedPayloads(`$${fields.indexOf('payload') + 2}`)}` : ''}
    UPDATE task_requests r SET ${sets.join(', ')}
    FROM ${'payload' in change ? 'before WHERE r.task_id = before.task_id' : 'task WHERE r.task_id = task.id'}`
  await tx.query(text, [id, ...fields.map(field => change[field])])
}

function isChanged(before: string | Date | null, after: string | Date | null | undefined): boolean {
  if (after === undefined) return false
  return (
    String(before instanceof Date ? before.getTime() : before) !==
    String(after instanceof Date ? after.getTime() : after)
  )
}
