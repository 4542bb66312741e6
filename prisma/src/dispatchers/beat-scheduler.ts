import { NIL_UUID } from '@belfry/domain/id'
import { streamsWithNews } from '../audit-streams/take-entries.ts'
import { openOperations } from '../bulk-operations/step-bulk-operation.ts'
import type { Db } from '../postgres/in-transaction.ts'
import { workspacesWithWork } from '../purge/wind-down-workspace.ts'
import { ratedQueues } from '../queues/advance-queues.ts'
import { runChanges } from '../run-statistics/fold-run-changes.ts'
import { overdueTasks } from '../tasks/expire-tasks.ts'
import { usageChanges } from '../usage/fold-usage-changes.ts'
import { type Heartbeat, heartbeatsStatement } from './heartbeat.ts'

/** The chores that have something to do, and the heartbeats of all dispatchers. */
type Pulse = { due: Array<keyof typeof searches>; heartbeats: Heartbeat[] }

// Each reads one index entry, or finds a small table empty.
const searches = {
  'advance-rated-queues': ratedQueues,
  'expire-tasks': overdueTasks,
  'fold-runs': runChanges,
  'fold-usage': usageChanges,
  'send-audit-logs': streamsWithNews,
  'step-bulk-operations': openOperations,
  'wind-down-workspaces': workspacesWithWork,
  'write-audit-file': `SELECT FROM audit_stream_entries WHERE organization_id = '${NIL_UUID}'`,
}

/**
 * Writes the heartbeat of a scheduler, and deletes the rows of schedulers without one for an hour. The same statement looks
 * for work, so a scheduler at rest sends one statement instead of one for each chore.
 */
export async function beatScheduler(db: Db, id: string): Promise<Pulse> {
  const { rows } = await db.query<Pulse>({ name: 'beat_scheduler', text: beatStatement, values: [id] })
  return rows[0] ?? { due: [], heartbeats: [] }
}

const names = Object.entries(searches).map(([chore, search]) => `CASE WHEN EXISTS (${search}) THEN '${chore}' END`)

const beatStatement = `
  WITH gone AS (DELETE FROM schedulers WHERE id <> $1 AND seen_at < clock_timestamp() - interval '1 hour'),
  beaten AS (
    INSERT INTO schedulers (id, seen_at) VALUES ($1, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
  )
  SELECT array_remove(ARRAY[${names.join(',\n    ')}], NULL) AS due,
         (SELECT coalesce(json_agg(h), '[]') FROM (${heartbeatsStatement}) h) AS heartbeats`

export async function leaveSchedulers(db: Db, id: string): Promise<void> {
  await db.query('DELETE FROM schedulers WHERE id = $1', [id])
}
