import type { AlertChannel, AlertEvent } from '@belfry/domain/alerts'
import { newUuid } from '@belfry/domain/id'
import type { MasterKeys } from '@belfry/vault'
import type { Integration as StoredIntegration } from '../generated/client.ts'
import type { Db, Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { createOpener, dataKeyColumns, type SealedRow, takeDataKey } from '../secrets/data-keys.ts'

/** An integration as the API shows it, without its full target. */
export type Integration = Pick<
  StoredIntegration,
  'id' | 'workspaceId' | 'key' | 'name' | 'channel' | 'shownTarget' | 'createdAt' | 'updatedAt'
> & {
  events: AlertEvent[]
  /** Whether alerts are sent: an email address may have to be confirmed first. */
  isConfirmed: boolean
}

/** The target of an integration: a URL or an email address. */
export type IntegrationTarget = {
  target: string
  shownTarget: string
  /** The hash of the token by which the recipient confirms the address. Optional. */
  confirmHash?: Uint8Array | null
}

export type NewIntegration = Pick<Integration, 'name' | 'channel' | 'events'> &
  IntegrationTarget & { key?: string | null }

/** The new values of an integration. Absent fields stay as they are. */
export type IntegrationChange = Partial<Pick<NewIntegration, 'key' | 'name' | 'events'>> & {
  target?: IntegrationTarget
}

export const maxIntegrations = 20

const columns = `id, workspace_id AS "workspaceId", key, name, channel, events, shown_target AS "shownTarget",
  (channel <> 'email' OR confirmed_at IS NOT NULL) AS "isConfirmed",
  created_at AS "createdAt", updated_at AS "updatedAt"`

/**
 * Creates an integration for events from now on. Returns null when the workspace has the maximum number of
 * integrations. Must run under the lock of `inWorkspace`.
 */
export async function insertIntegration(
  tx: Transaction,
  masterKeys: MasterKeys,
  workspaceId: string,
  { key = null, name, channel, events, target, shownTarget, confirmHash = null }: NewIntegration,
): Promise<Integration | null> {
  const { rowCount } = await tx.query('SELECT FROM integrations WHERE workspace_id = $1', [workspaceId])
  if ((rowCount ?? 0) >= maxIntegrations) return null
  const id = newUuid()
  const dataKey = await takeDataKey(tx, masterKeys, workspaceId)
  const { rows } = await tx.query<Integration>(
    `INSERT INTO integrations (id, workspace_id, name, channel, events, sealed_target, key_version, shown_target,
       confirm_hash, confirmed_at, key)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::bytea, CASE WHEN $9::bytea IS NULL THEN now() END, $10)
     RETURNING ${columns}`,
    [id, workspaceId, name, channel, events, dataKey.seal(id, target), dataKey.version, shownTarget, confirmHash, key],
  )
  return rows[0] ?? null
}

/**
 * Changes an integration. Returns null when the workspace has no such integration. When an event type is added, events of
 * the last hour count as unreported. An alert waits for an hour at most, so pending alerts of the other types are not lost.
 * Must run under the lock of `inWorkspace`.
 */
export async function changeIntegration(
  tx: Transaction,
  masterKeys: MasterKeys,
  workspaceId: string,
  id: string,
  { key, name, events, target }: IntegrationChange,
): Promise<Integration | null> {
  const dataKey = target ? await takeDataKey(tx, masterKeys, workspaceId) : null
  const sealed = target && dataKey ? [dataKey.seal(id, target.target), dataKey.version, target.shownTarget] : []
  const [sealedTarget, keyVersion, shownTarget] = sealed
  const values = [workspaceId, id, name, events, sealedTarget, keyVersion, shownTarget, target?.confirmHash]
  const { rows } = await tx.query<Integration>(
    `UPDATE integrations
     SET key = CASE WHEN $9 THEN $10 ELSE key END, name = coalesce($3, name), events = coalesce($4::text[], events), updated_at = now(),
         sealed_target = coalesce($5, sealed_target), key_version = coalesce($6, key_version),
         shown_target = coalesce($7, shown_target), has_news = true,
         confirm_hash = CASE WHEN $7::text IS NULL THEN confirm_hash ELSE $8::bytea END,
         confirmed_at = CASE WHEN $7::text IS NULL THEN confirmed_at WHEN $8::bytea IS NULL THEN now() END,
         told_until = CASE WHEN $4::text[] <@ events OR $4::text[] IS NULL THEN told_until
                           ELSE greatest(told_until, now() - interval '1 hour') END
     WHERE id = $2 AND workspace_id = $1 RETURNING ${columns}`,
    [...values, key !== undefined, key],
  )
  return rows[0] ?? null
}

/** Deletes an integration with its pending alerts. Returns null when the workspace has no such integration. */
export async function deleteIntegration(tx: Transaction, workspaceId: string, id: string): Promise<Integration | null> {
  const text = `DELETE FROM integrations WHERE id = $2 AND workspace_id = $1 RETURNING ${columns}`
  return (await tx.query<Integration>(text, [workspaceId, id])).rows[0] ?? null
}

export async function listIntegrations(pool: Pool, workspaceId: string): Promise<Integration[]> {
  const text = `SELECT ${columns} FROM integrations WHERE workspace_id = $1 ORDER BY id DESC`
  return (await pool.query<Integration>(text, [workspaceId])).rows
}

export async function findIntegration(db: Db, workspaceId: string, id: string): Promise<Integration | null> {
  const text = `SELECT ${columns} FROM integrations WHERE id = $2 AND workspace_id = $1`
  return (await db.query<Integration>(text, [workspaceId, id])).rows[0] ?? null
}

/**
 * Decrypts the target of an integration; null when it or its workspace has been deleted, or its address is not
 * confirmed. Only the dispatcher calls this.
 * @throws Error when a master key is missing.
 */
export async function openIntegration(pool: Pool, masterKeys: MasterKeys, workspaceId: string, id: string) {
  const { rows } = await pool.query<SealedRow & { channel: AlertChannel }>(
    `SELECT i.id, i.workspace_id AS "workspaceId", i.channel, i.sealed_target AS "sealedValue", ${dataKeyColumns}
     FROM integrations i
     JOIN workspaces w ON w.id = i.workspace_id AND w.deleted_at IS NULL
     JOIN data_keys k ON k.workspace_id = i.workspace_id AND k.version = i.key_version
     WHERE i.id = $2 AND i.workspace_id = $1 AND (i.channel <> 'email' OR i.confirmed_at IS NOT NULL)`,
    [workspaceId, id],
  )
  const [row] = rows
  return row ? { channel: row.channel, target: createOpener(masterKeys)(row) } : null
}
