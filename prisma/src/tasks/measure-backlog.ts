import type { OutboxKind } from '../generated/enums.ts'
import { queryInIndexOrder } from '../postgres/in-index-order.ts'
import type { Pool } from '../postgres/pool.ts'
import { isWaiting } from './task-row.ts'
import { leaseFloor, waitingFloor } from './waiting-floor.ts'

/** The work that waits in the database. */
export type MeasuredBacklog = {
  /** Waiting tasks that are due, up to `maxCounted`. */
  dueTasks: number
  /** How long the oldest of them has been due; 0 when there is none. */
  oldestDueSeconds: number
  /** How long the oldest lease of an attempt has been over; 0 when none is. */
  leaseOverdueSeconds: number
  /** Unsent messages of the outbox by kind, and the age of the oldest. */
  outbox: Array<{ kind: OutboxKind; waiting: number; oldestSeconds: number }>
}

/** Tasks, and messages of each kind, are counted up to here. */
export const maxCounted = 10_000

/** Measures the backlog. Each number needs only the beginning of an index. */
export async function measureBacklog(pool: Pool): Promise<MeasuredBacklog> {
  const [tasks, outbox] = await Promise.all([
    queryInIndexOrder<Omit<MeasuredBacklog, 'outbox'>>(pool, {
      name: 'measure_tasks',
      text: backlogStatement,
      values: [maxCounted],
    }),
    pool.query<MeasuredBacklog['outbox'][number]>({ name: 'measure_outbox', text: outboxText, values: [maxCounted] }),
  ])
  const [row = { dueTasks: 0, oldestDueSeconds: 0, leaseOverdueSeconds: 0 }] = tasks
  return { ...row, outbox: outbox.rows }
}

const firstLease = `(
    SELECT lease_until FROM tasks WHERE state = 'processing' AND lease_until >= ${leaseFloor} ORDER BY lease_until LIMIT 1
  )`

const secondsSince = (instant: string) =>
  `greatest(0, coalesce(extract(epoch FROM clock_timestamp() - ${instant}), 0))::float8`

export const backlogStatement = `
  WITH due AS (
    SELECT due_at FROM tasks WHERE ${isWaiting} AND due_at >= ${waitingFloor} AND due_at <= now()
    ORDER BY due_at, id LIMIT $1
  )
  SELECT count(*)::int AS "dueTasks", ${secondsSince('min(due_at)')} AS "oldestDueSeconds",
         ${secondsSince(firstLease)} AS "leaseOverdueSeconds"
  FROM due`

const outboxText = `
  SELECT k.kind::text, count(created_at)::int AS waiting, ${secondsSince('min(created_at)')} AS "oldestSeconds"
  FROM unnest(enum_range(NULL::outbox_kind)) AS k (kind) LEFT JOIN LATERAL (
    SELECT created_at FROM outbox o WHERE finished_at IS NULL AND o.kind = k.kind LIMIT $1
  ) o ON true
  GROUP BY k.kind ORDER BY k.kind`
