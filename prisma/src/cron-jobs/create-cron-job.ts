import { nextScheduled } from '@belfry/domain'
import { type Db, inTransaction, readClock } from '../postgres/in-transaction.ts'
import { type CronJobFields, columnOf, cursorColumns, scheduleOf } from './cron-job.ts'
import { type Expansion, expandLocked } from './expand-cron-jobs.ts'

export type NewCronJob = CronJobFields & { id: string; workspaceId: string }

/** Stores a cron job together with its occurrences within the look-ahead. */
export async function createCronJob(db: Db, job: NewCronJob, lookAheadMs: number): Promise<Expansion> {
  return inTransaction(db, async tx => {
    const now = await readClock(tx)
    const nextRunAt = nextScheduled(scheduleOf(job), now.getTime())
    const fields = Object.keys(columnOf) as Array<keyof typeof columnOf>
    const columns = ['id', 'workspace_id', 'next_run_at', ...fields.map(field => columnOf[field])]
    const values = [job.id, job.workspaceId, nextRunAt && new Date(nextRunAt.atMs), ...fields.map(field => job[field])]
    const text = `INSERT INTO cron_jobs (${columns.join(', ')}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})
                  RETURNING ${cursorColumns}`
    const { rows } = await tx.query({ name: 'insert_cron_job', text, values })
    return expandLocked(tx, rows, lookAheadMs)
  })
}
