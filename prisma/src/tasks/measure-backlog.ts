import type { OutboxKind } from '../generated/enums.ts'
import { queryInIndexOrder } from '../postgres/in-index-order.ts'
import type { Pool } from '../postgres/pool.ts'
import { type DueWork, maxCounted, measureDueWork } from './startable-tasks.ts'
import { isInFlight } from './task-row.ts'
import { leaseFloor } from './waiting-floor.ts'

export type MeasuredBacklog = DueWork & {
  /** How long the oldest lease of an attempt has been over; 0 if all leases are current. */
  leaseOverdueSeconds: number
  /**
   * Unsent messages of the outbox by kind, counted up to `maxCounted`: the age of the oldest, and for how long the
   * first due message has been due. A message that waits for its next attempt is not due.
   */
  outbox: Array<{ kind: OutboxKind; waiting: number; oldestSeconds: number; overdueSeconds: number }>
}

/** Measures the backlog. Each number needs only the beginning of an index. */
export async function measureBacklog(pool: Pool): Promise<MeasuredBacklog> {
  const [dueWork, leases, outbox] = await Promise.all([
    measureDueWork(pool),
    queryInIndexOrder<{ seconds: number }>(pool, { name: 'measure_leases', text: leasesStatement, values: [] }),
    pool.query<MeasuredBacklog['outbox'][number]>({ name: 'measure_outbox', text: outboxText, values: [maxCounted] }),
  ])
  return { leaseOverdueSeconds: leases[0]?.seconds ?? 0, outbox: outbox.rows, ...dueWork }
}

const secondsSince = (instant: string) =>
  `greatest(0, coalesce(extract(epoch FROM clock_timestamp() - ${instant}), 0))::float8`

const leasesStatement = `
  SELECT ${secondsSince('lease_until')} AS seconds FROM tasks
  WHERE ${isInFlight} AND lease_until >= ${leaseFloor} ORDER BY lease_until LIMIT 1`

const outboxText = `
  SELECT k.kind::text, count(created_at)::int AS waiting, ${secondsSince('min(created_at)')} AS "oldestSeconds",
         ${secondsSince('min(due_at)')} AS "overdueSeconds"
  FROM unnest(enum_range(NULL::outbox_kind)) AS k (kind) LEFT JOIN LATERAL (
    SELECT created_at, due_at FROM outbox o WHERE finished_at IS NULL AND o.kind = k.kind LIMIT $1
  ) o ON true
  GROUP BY k.kind ORDER BY k.kind`
