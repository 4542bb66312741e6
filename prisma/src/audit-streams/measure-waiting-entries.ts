import { NIL_UUID } from '@belfry/domain/id'
import type { Pool } from '../postgres/pool.ts'

/** The audit entries that were not received by the webhooks of organizations, or not written to the operators' file. */
export type WaitingAuditEntries = {
  stream: 'organizations' | 'file'
  /** Counted up to 10,000. */
  waiting: number
  /** Age of the oldest message in flight, or else of the oldest entry; 0 if nothing waits. */
  oldestSeconds: number
}

const maxCounted = 10_000

/** Measures what the streams have still to send. A stream costs two rows, however many entries wait. */
export async function measureWaitingAuditEntries(pool: Pool): Promise<WaitingAuditEntries[]> {
  const values = [NIL_UUID, maxCounted]
  return (await pool.query<WaitingAuditEntries>({ name: 'measure_audit_entries', text: statement, values })).rows
}

// The nil UUID is the smallest, so both parts read a range of the primary key. Ids of entries are ordered by time.
const statement = `
  WITH heads AS (
    SELECT s.organization_id = $1 AS is_file, m.entries, coalesce(m.created_at, a.created_at, o.created_at) AS since
    FROM audit_streams s
    LEFT JOIN LATERAL (
      SELECT s.message_entries AS entries, o.created_at FROM outbox o WHERE o.id = s.message_id AND o.finished_at IS NULL
    ) m ON true
    LEFT JOIN LATERAL (
      SELECT entry_id FROM audit_stream_entries WHERE organization_id = s.organization_id ORDER BY entry_id LIMIT 1
    ) e ON true
    LEFT JOIN audit_log a ON a.id = e.entry_id
    LEFT JOIN operator_log o ON o.id = e.entry_id
  ), counted AS (
    SELECT true AS is_file, count(*) AS entries
    FROM (SELECT FROM audit_stream_entries WHERE organization_id = $1 LIMIT $2) e
    UNION ALL
    SELECT false, count(*) FROM (SELECT FROM audit_stream_entries WHERE organization_id > $1 LIMIT $2) e
  )
  SELECT CASE WHEN c.is_file THEN 'file' ELSE 'organizations' END AS stream,
         least($2, c.entries + coalesce(sum(h.entries), 0))::int AS waiting,
         greatest(0, coalesce(extract(epoch FROM clock_timestamp() - min(h.since)), 0))::float8 AS "oldestSeconds"
  FROM counted c LEFT JOIN heads h USING (is_file)
  GROUP BY c.is_file, c.entries ORDER BY stream`
