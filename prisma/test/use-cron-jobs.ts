import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach } from 'vitest'
import { createCronJob, type NewCronJob } from '../src/cron-jobs/change-cron-job.ts'
import { useDatabase } from './setup.ts'

export const minuteMs = 60_000
export const lookAheadMs = 6 * minuteMs

/** Waits for the next minute if this one ends within five seconds: a job of each minute then has another occurrence. */
export async function withinMinute(): Promise<void> {
  const leftMs = minuteMs - (Date.now() % minuteMs)
  if (leftMs < 5_000) await sleep(leftMs + 10)
}

type Row = { id: string; state: string; reason: string | null; at: Date }

/** A database for the tests of a file, and what they do with its cron jobs. */
export function useCronJobs() {
  const db = useDatabase()
  beforeEach(() => db.pool.query('DELETE FROM cron_jobs')) // an expansion takes those of all workspaces in turn

  async function aCronJob(changes: Partial<NewCronJob> = {}): Promise<NewCronJob> {
    const [organizationId, workspaceId] = [randomUUID(), randomUUID()]
    await db.pool.query(`INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', $2, 'free')`, [
      organizationId,
      organizationId,
    ])
    await db.pool.query(`INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'A')`, [
      workspaceId,
      organizationId,
    ])
    return {
      ...{ id: randomUUID(), workspaceId, name: 'A cron job', cron: '* * * * *', timezone: 'UTC' },
      ...{ startsAt: null, endsAt: null, overlap: 'allow', catchUp: 'latest' },
      ...{ url: 'https://example.com', method: 'POST', headers: '{}', payload: '{"a":1.0}' },
      ...{ maxRetries: 0, backoff: 'fixed', baseDelayMs: 1000, maxDelayMs: 1000, timeoutMs: 5000 },
      ...changes,
    }
  }

  async function create(changes: Partial<NewCronJob> = {}): Promise<NewCronJob> {
    const job = await aCronJob(changes)
    await createCronJob(db.pool, job, lookAheadMs)
    return job
  }

  /** Changes the rows as if no scheduler had run for some whole minutes. */
  async function letTimePass(job: NewCronJob, minutes: number): Promise<void> {
    await db.pool.query('DELETE FROM tasks WHERE cron_job_id = $1', [job.id])
    const text = `UPDATE cron_jobs SET next_run_at = date_trunc('minute', now()) - $2 * interval '1 minute' WHERE id = $1`
    await db.pool.query(text, [job.id, minutes])
  }

  async function tasksOf(job: NewCronJob): Promise<Row[]> {
    const text = `SELECT id, state, state_reason AS reason, execute_at AS at FROM tasks WHERE cron_job_id = $1 ORDER BY at, id`
    return (await db.pool.query<Row>(text, [job.id])).rows
  }

  async function finish(id: string): Promise<void> {
    await db.pool.query(`UPDATE tasks SET state = 'success', lease_until = NULL, finished_at = now() WHERE id = $1`, [
      id,
    ])
  }

  async function makeDue(ids: string[]): Promise<void> {
    await db.pool.query(`UPDATE tasks SET due_at = now() - interval '1 second' WHERE id = ANY ($1)`, [ids])
  }

  return { db, create, letTimePass, tasksOf, finish, makeDue }
}
