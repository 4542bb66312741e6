import type { Db } from '../postgres/in-transaction.ts'
import { copiesOf } from '../tasks/replay-task.ts'
import { isDeadLetter, isUnsettledCancel } from '../tasks/task-row.ts'

/** How a dead letter is settled: with a copy that is sent again, or without. */
export type SettleAction = 'replay' | 'discard'

/**
 * How many replays are due per second, the first of them at `from` or now, whichever is later. Null: all of them then.
 * `withCancelled`: cancelled tasks are replayed like dead letters. Default: no. `depth`: after how many calls of Belfry in a
 * row they are replayed. Default: as many as before.
 */
export type ReplayPace = {
  perSecond: number | null
  from: Date | null
  withCancelled?: boolean
  depth?: number | null
}

/**
 * Replays or discards dead letters of a workspace, in one statement. Skips ids that are not dead letters, so each dead
 * letter is settled and replayed at most once.
 * @param pace - Default: all replays are due now.
 * @returns The ids of the settled dead letters, and the tasks that replay them. `now` is the database's clock.
 */
export async function settleDeadLetters(
  db: Db,
  workspaceId: string,
  taskIds: readonly string[],
  action: SettleAction,
  { perSecond, from, withCancelled = false, depth = null }: ReplayPace = { perSecond: null, from: null },
) {
  const values = [workspaceId, taskIds, action, from, perSecond, withCancelled, depth]
  const { rows } = await db.query<SettledRow>({ name: 'settle_dead_letters', text, values })
  return {
    deadLetters: rows.flatMap(({ id, dueAt }) => (dueAt === null ? [id] : [])),
    replays: rows.flatMap(({ id, dueAt }) => (dueAt === null ? [] : [{ id, dueAt }])),
    now: rows[0]?.now ?? new Date(),
  }
}

type SettledRow = { id: string; dueAt: Date | null; now: Date }

// Locks in the order of the ids, so concurrent statements cannot deadlock.
const text = `
  WITH chosen AS (
    SELECT t.id FROM tasks t
    WHERE t.id = ANY ($2::uuid[]) AND t.workspace_id = $1 AND (${isDeadLetter} OR $6::boolean AND ${isUnsettledCancel})
    ORDER BY t.id FOR UPDATE
  ),
  settled AS (
    UPDATE tasks t SET settled_at = now() FROM chosen WHERE t.id = chosen.id
    RETURNING t.id, t.workspace_id, t.source, t.cron_job_id, t.event_id, t.callback_of, t.has_callbacks, t.queue_id,
              t.execute_at, t.expires_at, t.created_at, t.occurrence_at
  ),
  replayed AS (
    SELECT *, greatest(now(), $4::timestamptz)
              + coalesce((row_number() OVER (ORDER BY execute_at, id) - 1) * interval '1 second' / $5::int, interval '0') AS copy_due_at
    FROM settled WHERE $3::text = 'replay'
  ),
  ${copiesOf('replayed', { depth: 'greatest(r.depth, $7::int2)', dueAt: 'copy_due_at' })}
  SELECT id, NULL::timestamptz AS "dueAt", clock_timestamp() AS now FROM settled
  UNION ALL
  SELECT id, due_at, clock_timestamp() FROM copied`
