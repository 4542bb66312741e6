import type pg from 'pg'

// Far enough never to come due, and exactly reversible.
const away = `interval '10000 years'`
const isHeld = `> now() + interval '5000 years'`

/**
 * Holds everything that was due or under way at the moment that a restored backup shows: some of it has been delivered
 * since, and nobody but the operator can know what. To be called before any service runs on the restored database.
 * @returns How many tasks are held.
 */
export async function holdOverdueTasks(pool: Pick<pg.Client, 'query'>): Promise<number> {
  const { rowCount } = await pool.query(`
    UPDATE tasks SET
      due_at = CASE state WHEN 'processing' THEN due_at ELSE due_at + ${away} END,
      lease_until = lease_until + ${away},
      updated_at = now()
    WHERE (state IN ('pending', 'retrying') AND due_at <= now())
       OR (state = 'processing' AND NOT lease_until ${isHeld})`)
  return rowCount ?? 0
}

/** Lets held tasks go on, at once. What should not be sent again is cancelled or deleted before. */
export async function releaseHeldTasks(pool: Pick<pg.Client, 'query'>): Promise<number> {
  const { rowCount } = await pool.query(`
    UPDATE tasks SET
      due_at = CASE state WHEN 'processing' THEN due_at ELSE due_at - ${away} END,
      lease_until = lease_until - ${away},
      updated_at = now()
    WHERE (state IN ('pending', 'retrying') AND due_at ${isHeld})
       OR (state = 'processing' AND lease_until ${isHeld})`)
  return rowCount ?? 0
}
