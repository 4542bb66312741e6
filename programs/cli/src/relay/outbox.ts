import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'

/** A row that a relay has claimed. Rows with the same `batch` are sent together, in the order of `position`. */
export type OutboxRow = {
  id: string
  position: number
  kind: 'task' | 'event'
  /** JSON text. */
  body: string
  batch: string
  /** How often the row was claimed, the same for a whole batch. */
  attempts: number
}

export type Batch = [OutboxRow, ...OutboxRow[]]

/** How long a relay has for a request. Then another relay repeats it, with the same key. */
export const leaseMs = 30_000

// A request may have 1,000 tasks and 5 MiB.
export const maxRows = 500
const maxBytes = 4_000_000

// One batch that was claimed before, and new rows beside it: rows that Belfry refuses for long must not stop the others. The
// first row of a batch stands for it, so only one relay gets it. Tasks with one key keep their order: a task waits while
// earlier tasks with its key are claimed, or locked by a concurrent claim.
const claim = `
  WITH due AS (
    SELECT batch FROM belfry.outbox AS o
    WHERE due_at <= now() AND NOT EXISTS (
      SELECT FROM belfry.outbox AS earlier WHERE earlier.batch = o.batch AND earlier.position < o.position
    )
    ORDER BY due_at, position LIMIT 1 FOR UPDATE OF o SKIP LOCKED
  ),
  fresh AS (
    SELECT id, position, kind, key, bytes FROM belfry.outbox AS o
    WHERE batch IS NULL AND rejected_at IS NULL
      AND (key IS NULL OR NOT EXISTS (
        SELECT FROM belfry.outbox AS claimed WHERE claimed.key = o.key AND claimed.batch IS NOT NULL
      ))
    ORDER BY position LIMIT ${maxRows} FOR UPDATE OF o SKIP LOCKED
  ),
  fitting AS (
    SELECT * FROM (SELECT *, sum(bytes) OVER (ORDER BY position) - bytes AS bytes_before FROM fresh) AS summed
    WHERE bytes_before < ${maxBytes}
  ),
  incomplete AS (
    SELECT key FROM fitting WHERE key IS NOT NULL GROUP BY key
    HAVING count(*) < (
      SELECT count(*) FROM belfry.outbox AS o
      WHERE o.rejected_at IS NULL AND o.key = fitting.key AND o.position <= max(fitting.position)
    )
  ),
  taken AS (
    SELECT id, CASE WHEN kind = 'event' OR count(*) OVER (PARTITION BY kind) = 1 THEN id ELSE $1::uuid END AS batch
    FROM fitting WHERE key IS NULL OR key NOT IN (TABLE incomplete)
    UNION ALL
    SELECT id, batch FROM belfry.outbox JOIN due USING (batch)
  )
  UPDATE belfry.outbox AS o
  SET batch = taken.batch, attempts = attempts + 1, due_at = now() + $2 * interval '1 millisecond'
  FROM taken WHERE o.id = taken.id
  RETURNING o.id, o.position::float8 AS position, o.kind, o.body::text AS body, o.batch, o.attempts`

/**
 * Claims rows for requests: new ones, and a batch whose request has to be repeated. The statements here are unnamed, because
 * poolers of transactions do not keep prepared statements.
 */
export async function claimRows(pool: Pool): Promise<OutboxRow[]> {
  const { rows } = await pool.query<OutboxRow>(claim, [randomUUID(), leaseMs])
  return rows.sort((a, b) => a.position - b.position)
}

export function byBatch(rows: readonly OutboxRow[]): Batch[] {
  const batches = new Map<string, Batch>()
  for (const row of rows) {
    const batch = batches.get(row.batch)
    if (batch) batch.push(row)
    else batches.set(row.batch, [row])
  }
  return [...batches.values()]
}

/** What became of a request: of each row, or of all when the request has to be repeated. */
export type Outcome = {
  /** The ids of rows that Belfry has stored. */
  stored: string[]
  /** The rows that Belfry refused, with its reasons. */
  rejected: Array<{ id: string; error: string }>
  /** The ids of rows that Belfry has not stored because of others, or not yet. They are sent one by one. */
  alone: string[]
  /** Why the request has to be repeated. */
  failure: string | null
  /** How long Belfry asks to wait before any further request, or 0. */
  waitMs: number
}

// A relay that comes after its time must not change rows that another one has claimed since.
const stillClaimed = 'o.batch = $1 AND o.attempts = $2'

// One statement, because the rest of a batch must not be sent again under its key. A row alone has its own id as its key. Of
// tasks with one key only the first is sent alone. The others wait for it. The commit does not wait for the disk: when a crash of
// PostgreSQL loses it, the request is repeated under its key, and Belfry answers the same.
const record = `
  WITH mode AS (SELECT set_config('synchronous_commit', 'off', true)),
  stored AS (DELETE FROM belfry.outbox USING mode WHERE id = ANY ($3::uuid[])),
  rejected AS (
    UPDATE belfry.outbox AS o SET rejected_at = now(), error = refused.error, batch = NULL, due_at = NULL, attempts = 0
    FROM unnest($4::uuid[], $5::text[]) AS refused (id, error) WHERE o.id = refused.id AND ${stillClaimed}
  )
  UPDATE belfry.outbox AS o
  SET batch = CASE WHEN is_first THEN o.id END, due_at = CASE WHEN is_first THEN now() END,
      attempts = CASE WHEN is_first THEN o.attempts ELSE 0 END
  FROM (
    SELECT id, position = min(position) OVER (PARTITION BY coalesce(key, id::text)) AS is_first
    FROM belfry.outbox WHERE id = ANY ($6::uuid[])
  ) AS separated
  WHERE o.id = separated.id AND ${stillClaimed}`

const postpone = `
  UPDATE belfry.outbox AS o SET error = $3, due_at = now() + $4 * interval '1 millisecond' WHERE ${stillClaimed}`

/** Records an outcome. Until then the rows stay claimed. */
export async function recordOutcome(pool: Pool, [first]: Batch, outcome: Outcome): Promise<void> {
  const { stored, rejected, alone, failure, waitMs } = outcome
  const claimed = [first.batch, first.attempts]
  const backoffMs = Math.min(1_000 * 2 ** (first.attempts - 1), 60_000)
  const delayMs = Math.max(backoffMs, waitMs)
  if (failure !== null) await pool.query(postpone, [...claimed, failure, delayMs])
  else {
    const refused = [rejected.map(({ id }) => id), rejected.map(({ error }) => error)]
    await pool.query(record, [...claimed, stored, ...refused, alone])
  }
}
