import { randomUUID } from 'node:crypto'
import type { Tiers } from '@belfry/domain/tiers'
import type { Pool } from '../postgres/pool.ts'
import { claimTasks } from './claim-tasks.ts'
import type { Claim } from './claimed-row.ts'

// Several processes look for the next task at the same time, so each picks one of the first few.
const candidates = 8
const isDue = `quarantined AND waits_for = 0 AND state = 'retrying' AND due_at <= clock_timestamp()
        AND NOT EXISTS (SELECT FROM suspended_workspaces s WHERE s.id = workspace_id)`

/** Counts the due tasks in quarantine, up to `max`. */
export async function countQuarantined(pool: Pool, max: number): Promise<number> {
  const text = `
    SELECT count(*)::int AS n FROM (
      SELECT FROM tasks WHERE ${isDue} LIMIT $1
    ) due`
  const { rows } = await pool.query<{ n: number }>({ name: 'count_quarantined', text, values: [max] })
  return rows[0]?.n ?? 0
}

/** Claims one of the oldest due tasks in quarantine. Null when none is due. */
export async function claimQuarantined(pool: Pool, dispatcherId: string, tiers: Tiers): Promise<Claim | null> {
  const text = `
    SELECT id FROM (
      SELECT id FROM tasks WHERE ${isDue}
      ORDER BY due_at LIMIT ${candidates}
    ) due ORDER BY random() LIMIT 1`
  const { rows } = await pool.query<{ id: string }>({ name: 'next_quarantined', text })
  if (!rows[0]) return null
  const request = { taskId: rows[0].id, token: randomUUID() }
  const [claim = null] = await claimTasks(pool, { dispatcherId, quarantine: true }, [request], tiers)
  return claim
}
