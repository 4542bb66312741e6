import type { MasterKeys } from '@belfry/vault'
import type { Db, Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { openWithOwnKey, type SealedWithOwnKey, sealWithOwnKey } from '../secrets/own-data-key.ts'
import { randomSecret } from '../secrets/signing-secrets.ts'

/** A secret that signs the messages of a stream. The current one has no expiry. */
export type StreamSecret = { value: string; expiresAt: Date | null }

/** The webhook that receives the audit entries of an organization. */
export type AuditStream = {
  /** The host of the URL. */
  shownTarget: string
  /** The current signing secret, and the previous one while it also signs. */
  secrets: StreamSecret[]
  /** How many entries were not received yet, counted up to 10,001. */
  waiting: number
  /** Why the latest message was not received; null when it was, or has not been sent. */
  lastError: string | null
  updatedAt: Date
}

// The encrypted part.
type Target = { url: string; secrets: Array<{ value: string; expiresAt: string | null }> }

const overlapMs = 24 * 3_600_000
const maxCounted = 10_001

type Row = Omit<AuditStream, 'secrets'> & SealedWithOwnKey

/** Reads the stream of an organization; null when it has none. */
export async function readAuditStream(db: Db, masterKeys: MasterKeys, organizationId: string) {
  const { rows } = await db.query<Row>(
    `SELECT s.shown_target AS "shownTarget", ${sealedColumns}, s.updated_at AS "updatedAt", CASE WHEN NOT o.sent THEN o.last_error END AS "lastError",
            CASE WHEN o.finished_at IS NULL AND o.id IS NOT NULL THEN s.message_entries ELSE 0 END + (
              SELECT count(*) FROM (
                SELECT FROM audit_stream_entries WHERE organization_id = $1 LIMIT ${maxCounted}
              ) e
            )::int AS waiting
     FROM audit_streams s LEFT JOIN outbox o ON o.id = s.message_id
     WHERE s.organization_id = $1 AND s.sealed_target IS NOT NULL`,
    [organizationId],
  )
  const [row] = rows
  if (!row) return null
  const { sealed, masterKeyId, wrappedKey, waiting, ...stream } = row
  const { secrets } = openTarget(masterKeys, organizationId, { sealed, masterKeyId, wrappedKey })
  return { ...stream, secrets: signingNow(secrets), waiting: Math.min(waiting, maxCounted) }
}

/**
 * Creates the stream of an organization, or changes its URL. Entries that wait are sent to the new URL.
 * @returns Whether it was created.
 */
export async function putAuditStream(
  tx: Transaction,
  masterKeys: MasterKeys,
  organizationId: string,
  { url, shownTarget }: { url: string; shownTarget: string },
): Promise<boolean> {
  const before = await lockTarget(tx, masterKeys, organizationId)
  const secrets = before?.secrets ?? [{ value: randomSecret(), expiresAt: null }]
  await storeTarget(tx, masterKeys, organizationId, shownTarget, { url, secrets })
  return before === null
}

/**
 * Replaces the signing secret of a stream. The replaced secret also signs for another 24 hours; older secrets stop.
 * Returns false when there is no stream.
 */
export async function rotateAuditStreamSecret(tx: Transaction, masterKeys: MasterKeys, organizationId: string) {
  const before = await lockTarget(tx, masterKeys, organizationId)
  if (before === null) return false
  const expiresAt = new Date(Date.now() + overlapMs).toISOString()
  const previous = before.secrets.slice(0, 1).map(({ value }) => ({ value, expiresAt }))
  const secrets = [{ value: randomSecret(), expiresAt: null }, ...previous]
  await storeTarget(tx, masterKeys, organizationId, before.shownTarget, { url: before.url, secrets })
  return true
}

/** Ends the stream of an organization, and drops the entries that wait. Returns the host of its URL; null without a stream. */
export async function deleteAuditStream(tx: Transaction, organizationId: string): Promise<string | null> {
  const text = 'DELETE FROM audit_streams WHERE organization_id = $1 RETURNING shown_target AS "shownTarget"'
  const { rows } = await tx.query<{ shownTarget: string }>(text, [organizationId])
  await tx.query('DELETE FROM audit_stream_entries WHERE organization_id = $1', [organizationId])
  return rows[0]?.shownTarget ?? null
}

/**
 * Decrypts the URL of a stream and the secrets that sign now; null when there is no stream. `messageId` is its latest
 * message. Only the dispatcher calls this.
 * @throws Error when a master key is missing.
 */
export async function openAuditStream(pool: Pool, masterKeys: MasterKeys, organizationId: string) {
  const target = await readTarget(pool, masterKeys, organizationId)
  if (target === null) return null
  const { url, messageId } = target
  return { url, messageId, secrets: signingNow(target.secrets).map(({ value }) => value) }
}

const sealedColumns = 's.sealed_target AS sealed, s.master_key_id AS "masterKeyId", s.wrapped_key AS "wrappedKey"'

type StoredTarget = Target & { shownTarget: string; messageId: string | null }

async function readTarget(db: Db, masterKeys: MasterKeys, organizationId: string): Promise<StoredTarget | null> {
  const text = `
    SELECT s.shown_target AS "shownTarget", s.message_id AS "messageId", ${sealedColumns}
    FROM audit_streams s WHERE s.organization_id = $1 AND s.sealed_target IS NOT NULL`
  const [row] = (await db.query<Row & Pick<StoredTarget, 'messageId'>>(text, [organizationId])).rows
  if (!row) return null
  const { shownTarget, messageId } = row
  return { ...openTarget(masterKeys, organizationId, row), shownTarget, messageId }
}

// The lock of the organization also excludes two callers that create a stream.
async function lockTarget(tx: Transaction, masterKeys: MasterKeys, organizationId: string) {
  await tx.query('SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE', [organizationId])
  return readTarget(tx, masterKeys, organizationId)
}

function openTarget(masterKeys: MasterKeys, organizationId: string, stored: SealedWithOwnKey): Target {
  return JSON.parse(openWithOwnKey(masterKeys, organizationId, stored)) as Target // as `storeTarget` writes it
}

async function storeTarget(
  tx: Transaction,
  masterKeys: MasterKeys,
  organizationId: string,
  shownTarget: string,
  target: Target,
): Promise<void> {
  const { sealed, masterKeyId, wrappedKey } = sealWithOwnKey(masterKeys, organizationId, JSON.stringify(target))
  await tx.query(
    `INSERT INTO audit_streams (organization_id, shown_target, sealed_target, master_key_id, wrapped_key)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (organization_id) DO UPDATE
     SET shown_target = excluded.shown_target, sealed_target = excluded.sealed_target,
         master_key_id = excluded.master_key_id, wrapped_key = excluded.wrapped_key, updated_at = now()`,
    [organizationId, shownTarget, sealed, masterKeyId, wrappedKey],
  )
}

function signingNow(secrets: Target['secrets']): StreamSecret[] {
  return secrets
    .map(({ value, expiresAt }) => ({ value, expiresAt: expiresAt === null ? null : new Date(expiresAt) }))
    .filter(({ expiresAt }) => expiresAt === null || expiresAt.getTime() > Date.now())
}
