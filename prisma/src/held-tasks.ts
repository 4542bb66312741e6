import { expandCronJobs } from './cron-jobs/expand-cron-jobs.ts'
import type { Db } from './in-transaction.ts'

// Far enough never to come due, and exactly reversible.
const away = `interval '10000 years'`
const isHeld = `> now() + interval '5000 years'`

const cronJobsPerBatch = 500

/**
 * Holds everything that was due or under way at the moment that a restored backup shows, and the occurrences of cron jobs
 * whose time has passed since: some of it has been delivered, and nobody but the operator can know what. To be called
 * before any service runs on the restored database.
 * @returns How many tasks are held.
 */
export async function holdOverdueTasks(db: Db): Promise<number> {
  const batch = { lookAheadMs: 0, limit: cronJobsPerBatch }
  while ((await expandCronJobs(db, batch)).jobs === cronJobsPerBatch);
  return hold(db)
}

async function hold(db: Db): Promise<number> {
  const { rowCount } = await db.query(`
    UPDATE tasks SET
      due_at = CASE state WHEN 'processing' THEN due_at ELSE due_at + ${away} END,
      lease_until = lease_until + ${away},
      updated_at = now()
    WHERE (state IN ('pending', 'retrying') AND due_at <= now())
       OR (state = 'processing' AND NOT lease_until ${isHeld})`)
  return rowCount ?? 0
}

/** Lets held tasks go on, at once. What should not be sent again is cancelled or deleted before. */
export async function releaseHeldTasks(db: Db): Promise<number> {
  const { rowCount } = await db.query(`
    UPDATE tasks SET
      due_at = CASE state WHEN 'processing' THEN due_at ELSE due_at - ${away} END,
      lease_until = lease_until - ${away},
      updated_at = now()
    WHERE (state IN ('pending', 'retrying') AND due_at ${isHeld})
       OR (state = 'processing' AND lease_until ${isHeld})`)
  return rowCount ?? 0
}
