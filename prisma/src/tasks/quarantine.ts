import { randomUUID } from 'node:crypto'
import type { Tiers } from '@belfry/domain/tiers'
import type { Pool } from '../postgres/pool.ts'
import { arraysOf } from '../postgres/statement-input.ts'
import { claimFromBlocks } from './claim-tasks.ts'
import type { Claim } from './claimed-row.ts'
import { originOf } from './task-row.ts'

// Several processes look for the next task at the same time, so each picks one of the first few.
const candidates = 8
const isDue = `quarantined AND waits_for = 0 AND state = 'retrying' AND due_at <= clock_timestamp()
        AND NOT EXISTS (SELECT FROM suspended_workspaces s WHERE s.id = workspace_id)`

export async function countQuarantined(pool: Pool, max: number): Promise<number> {
  const text = `
    SELECT count(*)::int AS n FROM (
      SELECT FROM tasks WHERE ${isDue} LIMIT $1
    ) due`
  const { rows } = await pool.query<{ n: number }>({ name: 'count_quarantined', text, values: [max] })
  return rows[0]?.n ?? 0
}

export type QuarantinedTask = { id: string; workspaceId: string; origin: string }

/**
 * Returns one of the oldest due tasks in quarantine; null when none is due. It picks a workspace first: calls of one may hang
 * for minutes, and thousands of them may have been lost.
 * @param except - Passes over the tasks of these workspaces that call these origins. Default: none.
 */
export async function nextQuarantined(pool: Pool, except: ReadonlyArray<Omit<QuarantinedTask, 'id'>> = []) {
  const text = `
    WITH due AS MATERIALIZED (
      SELECT id, workspace_id AS owner, due_at FROM tasks WHERE ${isDue}
        AND (workspace_id <> ALL ($1::uuid[]) OR NOT EXISTS (
          SELECT FROM task_requests e WHERE e.task_id = id
            AND (workspace_id, ${originOf('e.url')}) IN (SELECT * FROM unnest($1::uuid[], $2::text[])) OFFSET 0
        ))
    ),
    picked AS MATERIALIZED (SELECT owner FROM (SELECT DISTINCT owner FROM due) d ORDER BY random() LIMIT 1)
    SELECT oldest.id, oldest.owner AS "workspaceId", ${originOf('r.url')} AS origin FROM (
      SELECT id, owner FROM due JOIN picked USING (owner) ORDER BY due_at, id LIMIT ${candidates}
    ) oldest JOIN task_requests r ON r.task_id = oldest.id ORDER BY random() LIMIT 1`
  const values = arraysOf(except, 'workspaceId', 'origin')
  const { rows } = await pool.query<QuarantinedTask>({ name: 'next_quarantined', text, values })
  return rows[0] ?? null
}

/** Claims a task in quarantine. It is a retry, so it never needs an execution. */
export async function claimQuarantined(
  pool: Pool,
  dispatcherId: string,
  { id: taskId, origin }: QuarantinedTask,
  tiers: Tiers,
): Promise<Claim | null> {
  const request = { taskId, origin, token: randomUUID(), isQueued: true }
  const [claim] = await claimFromBlocks(pool, { dispatcherId, quarantine: true }, [request], tiers)
  return claim === undefined || claim.kind === 'short' ? null : claim
}
