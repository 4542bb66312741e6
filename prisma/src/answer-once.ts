import { hash } from 'node:crypto'
import { inTransaction, type Transaction } from './postgres/in-transaction.ts'
import type { Pool } from './postgres/pool.ts'

/** A request that the client may repeat. The `hash` shows whether a request with the same key is a repetition. */
export type KeyedRequest = { workspaceId: string; key: string; hash: Uint8Array }

/** A response as it was sent. */
export type KeptResponse = { status: number; location: string | null; answer: string }

/**
 * `first`: this call did the work. `repeated`: an earlier request did it. `reused`: the key belongs to a different request.
 * `in_progress`: the first request with this key has not ended.
 */
export type AnsweredOnce =
  | { kind: 'first' | 'repeated'; answer: KeptResponse }
  | { kind: 'reused' }
  | { kind: 'in_progress' }

/** SQL: how long a response is kept. */
export const keptFor = `interval '24 hours'`

/**
 * Does the work of a request once in 24 hours, however often and from wherever the client sends it. The writes of the
 * work and its response are committed together. When the work rejects, both are rolled back and the key stays free.
 */
export async function answerOnce(
  pool: Pool,
  request: KeyedRequest,
  work: (tx: Transaction) => Promise<KeptResponse>,
): Promise<AnsweredOnce> {
  return inTransaction(pool, async tx => {
    if (!(await tryLock(tx, request))) return { kind: 'in_progress' }
    const kept = await findAnswer(tx, request) // its own snapshot includes the commit of the last holder
    if (kept) return kept.isSame ? { kind: 'repeated', answer: kept } : { kind: 'reused' }
    const answer = await work(tx)
    await keepAnswer(tx, request, answer)
    return { kind: 'first', answer }
  })
}

/** Deletes up to `limit` responses that are older than a day. Returns how many it deleted. */
export async function forgetIdempotencyKeys(pool: Pool, limit: number): Promise<number> {
  const text = `
    DELETE FROM idempotency_keys WHERE (workspace_id, key) IN (
      SELECT workspace_id, key FROM idempotency_keys WHERE created_at <= now() - ${keptFor}
      ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED
    )`
  const { rowCount } = await pool.query({ name: 'forget_idempotency_keys', text, values: [limit] })
  return rowCount ?? 0
}

/** Returns the advisory lock of a key. Two keys with the same lock only exclude each other while a request runs. */
export function lockOf({ workspaceId, key }: KeyedRequest): bigint {
  return hash('sha256', `${workspaceId} ${key}`, 'buffer').readBigInt64BE()
}

// PostgreSQL releases the lock when the transaction ends.
async function tryLock(tx: Transaction, request: KeyedRequest): Promise<boolean> {
  const text = 'SELECT pg_try_advisory_xact_lock($1::bigint) AS taken'
  const { rows } = await tx.query<{ taken: boolean }>({ name: 'lock_key', text, values: [lockOf(request)] })
  return rows[0]?.taken === true
}

async function findAnswer(tx: Transaction, { workspaceId, key, hash }: KeyedRequest) {
  const text = `
    SELECT request_hash = $3 AS "isSame", status, location, answer FROM idempotency_keys
    WHERE workspace_id = $1 AND key = $2 AND created_at > now() - ${keptFor}`
  const values = [workspaceId, key, hash]
  const { rows } = await tx.query<KeptResponse & { isSame: boolean }>({ name: 'find_answer', text, values })
  return rows[0]
}

// Under the lock, an existing row can only be an expired one. The condition makes sure.
async function keepAnswer(tx: Transaction, request: KeyedRequest, kept: KeptResponse): Promise<void> {
  const text = `
    INSERT INTO idempotency_keys (workspace_id, key, request_hash, status, location, answer)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (workspace_id, key) DO UPDATE
    SET request_hash = excluded.request_hash, status = excluded.status, location = excluded.location,
        answer = excluded.answer, created_at = excluded.created_at
    WHERE idempotency_keys.created_at <= now() - ${keptFor}`
  const values = [request.workspaceId, request.key, request.hash, kept.status, kept.location, kept.answer]
  const { rowCount } = await tx.query({ name: 'keep_answer', text, values })
  if (rowCount !== 1) throw new Error('Another request has done this work under the same key.')
}
