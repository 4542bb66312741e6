import { type AlertChannel, type AlertEvent, newUuid } from '@belfry/domain'
import type { MasterKeys } from '@belfry/vault'
import type { Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { createOpener, dataKeyColumns, type SealedRow, takeDataKey } from '../secrets/data-keys.ts'

/** An integration as its owners see it: never its whole target. */
export type Integration = {
  id: string
  workspaceId: string
  name: string
  channel: AlertChannel
  events: AlertEvent[]
  /** The host of a URL, or an e-mail address. */
  shownTarget: string
  createdAt: Date
  updatedAt: Date
}

/** Where an integration sends to: a URL, or an e-mail address. */
export type IntegrationTarget = { target: string; shownTarget: string }

export type NewIntegration = Pick<Integration, 'name' | 'channel' | 'events'> & IntegrationTarget
export type IntegrationChange = { name?: string; events?: AlertEvent[]; target?: IntegrationTarget }

/** Integrations that a workspace may have. */
export const mostIntegrations = 20

const columns = `id, workspace_id AS "workspaceId", name, channel, events, shown_target AS "shownTarget",
  created_at AS "createdAt", updated_at AS "updatedAt"`

/**
 * Makes an integration, which is told of what happens from now on; null when the workspace has enough of them. Must run
 * under the lock of `inWorkspace`.
 */
export async function insertIntegration(
  tx: Transaction,
  masterKeys: MasterKeys,
  workspaceId: string,
  { name, channel, events, target, shownTarget }: NewIntegration,
): Promise<Integration | null> {
  const { rowCount } = await tx.query('SELECT FROM integrations WHERE workspace_id = $1', [workspaceId])
  if ((rowCount ?? 0) >= mostIntegrations) return null
  const id = newUuid()
  const dataKey = await takeDataKey(tx, masterKeys, workspaceId)
  const { rows } = await tx.query<Integration>(
    `INSERT INTO integrations (id, workspace_id, name, channel, events, sealed_target, key_version, shown_target)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${columns}`,
    [id, workspaceId, name, channel, events, dataKey.seal(id, target), dataKey.version, shownTarget],
  )
  return rows[0] ?? null
}

/**
 * Changes an integration; null when the workspace has no such one. An event that is added is told of from an hour back,
 * which is as long as anything has to wait: what waits for the others is not lost. Must run under the lock of
 * `inWorkspace`.
 */
export async function changeIntegration(
  tx: Transaction,
  masterKeys: MasterKeys,
  workspaceId: string,
  id: string,
  { name, events, target }: IntegrationChange,
): Promise<Integration | null> {
  const dataKey = target ? await takeDataKey(tx, masterKeys, workspaceId) : null
  const sealed = target && dataKey ? [dataKey.seal(id, target.target), dataKey.version, target.shownTarget] : []
  const [sealedTarget = null, keyVersion = null, shownTarget = null] = sealed
  const { rows } = await tx.query<Integration>(
    `UPDATE integrations
     SET name = coalesce($3, name), events = coalesce($4::text[], events), updated_at = now(),
         sealed_target = coalesce($5, sealed_target), key_version = coalesce($6, key_version),
         shown_target = coalesce($7, shown_target), has_news = true,
         told_until = CASE WHEN $4::text[] <@ events OR $4::text[] IS NULL THEN told_until
                           ELSE greatest(told_until, now() - interval '1 hour') END
     WHERE id = $2 AND workspace_id = $1 RETURNING ${columns}`,
    [workspaceId, id, name ?? null, events ?? null, sealedTarget, keyVersion, shownTarget],
  )
  return rows[0] ?? null
}

/** Removes an integration, and what it had not been told yet; null when the workspace has no such one. */
export async function deleteIntegration(tx: Transaction, workspaceId: string, id: string): Promise<Integration | null> {
  const text = `DELETE FROM integrations WHERE id = $2 AND workspace_id = $1 RETURNING ${columns}`
  return (await tx.query<Integration>(text, [workspaceId, id])).rows[0] ?? null
}

/** The integrations of a workspace, newest first. */
export async function listIntegrations(pool: Pool, workspaceId: string): Promise<Integration[]> {
  const text = `SELECT ${columns} FROM integrations WHERE workspace_id = $1 ORDER BY id DESC`
  return (await pool.query<Integration>(text, [workspaceId])).rows
}

/** One integration of a workspace; null when it has no such one. */
export async function findIntegration(
  db: Pool | Transaction,
  workspaceId: string,
  id: string,
): Promise<Integration | null> {
  const text = `SELECT ${columns} FROM integrations WHERE id = $2 AND workspace_id = $1`
  return (await db.query<Integration>(text, [workspaceId, id])).rows[0] ?? null
}

/**
 * Reads where an integration sends to; null when it or its workspace has been deleted. Only for the process that sends.
 * @throws Error when a master key is missing.
 */
export async function openIntegration(
  pool: Pool,
  masterKeys: MasterKeys,
  workspaceId: string,
  id: string,
): Promise<{ channel: AlertChannel; target: string } | null> {
  const { rows } = await pool.query<SealedRow & { channel: AlertChannel }>(
    `SELECT i.id, i.workspace_id AS "workspaceId", i.channel, i.sealed_target AS "sealedValue", ${dataKeyColumns}
     FROM integrations i
     JOIN workspaces w ON w.id = i.workspace_id AND w.deleted_at IS NULL
     JOIN data_keys k ON k.workspace_id = i.workspace_id AND k.version = i.key_version
     WHERE i.id = $2 AND i.workspace_id = $1`,
    [workspaceId, id],
  )
  const [row] = rows
  return row ? { channel: row.channel, target: createOpener(masterKeys)(row) } : null
}
