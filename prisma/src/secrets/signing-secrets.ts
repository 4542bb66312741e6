import { randomBytes } from 'node:crypto'
import { newUuid } from '@belfry/domain'
import type { MasterKeys } from '@belfry/vault'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { createKeyReader, dataKeyColumns, type SealedRow, takeDataKey } from './data-keys.ts'
import { inWorkspace, type OnRecord } from './in-workspace.ts'

/** A secret that signs the deliveries of a workspace. The current one has no expiry. */
export type SigningSecret = {
  id: string
  workspaceId: string
  value: string
  /** The seed of its Ed25519 key pair. It follows from the data key, so the holder of `value` cannot compute it. */
  seed: Buffer
  /** Whether the key pair signs too. */
  isAsymmetric: boolean
  createdAt: Date
  expiresAt: Date | null
}

/** SQL: how long a replaced secret continues to sign. */
const overlap = `interval '24 hours'`
const secretBytes = 32

/** How many secrets of a workspace may sign at the same time. */
export const maxSigningSecrets = 5

/**
 * Reads the signing secrets of workspaces, the current one first. Creates the first secret of a workspace. The result omits
 * workspaces that do not exist.
 * @throws UnreadableSecretError when a secret cannot be decrypted.
 */
export async function readSigningSecrets(
  pool: Pool,
  masterKeys: MasterKeys,
  workspaceIds: readonly string[],
): Promise<Map<string, SigningSecret[]>> {
  const found = await select(pool, masterKeys, workspaceIds)
  const lacking = workspaceIds.filter(id => !found.get(id)?.some(secret => secret.expiresAt === null))
  if (lacking.length === 0) return found
  for (const id of lacking) await ensureSigningSecret(pool, masterKeys, id)
  return select(pool, masterKeys, workspaceIds)
}

/** Creates the first signing secret of a workspace, unless it has one. */
export async function ensureSigningSecret(pool: Pool, masterKeys: MasterKeys, workspaceId: string): Promise<void> {
  await inWorkspace(pool, workspaceId, async tx => {
    const text = 'SELECT FROM signing_secrets WHERE workspace_id = $1 AND expires_at IS NULL'
    const { rowCount } = await tx.query(text, [workspaceId])
    if (rowCount === 0) await insert(tx, masterKeys, workspaceId)
  })
}

/**
 * Replaces the current secret, which continues to sign for 24 hours. Returns `full` when the maximum number of secrets sign
 * already, and null when there is no such workspace.
 */
export async function rotateSigningSecret(
  pool: Pool,
  masterKeys: MasterKeys,
  workspaceId: string,
  record?: OnRecord<SigningSecret>,
): Promise<SigningSecret | 'full' | null> {
  return inWorkspace(pool, workspaceId, async tx => {
    await tx.query('DELETE FROM signing_secrets WHERE workspace_id = $1 AND expires_at <= now()', [workspaceId])
    const signing = await tx.query('SELECT FROM signing_secrets WHERE workspace_id = $1', [workspaceId])
    if ((signing.rowCount ?? 0) >= maxSigningSecrets) return 'full' as const
    const text = `
      UPDATE signing_secrets SET expires_at = now() + ${overlap} WHERE workspace_id = $1 AND expires_at IS NULL`
    await tx.query(text, [workspaceId])
    const secret = await insert(tx, masterKeys, workspaceId)
    await record?.(tx, secret)
    return secret
  })
}

/** Revokes a replaced secret. The current one cannot be revoked, only rotated. */
export function revokeSigningSecret(
  pool: Pool,
  workspaceId: string,
  id: string,
  record?: OnRecord,
): Promise<'revoked' | 'current' | 'unknown'> {
  return inTransaction(pool, async tx => {
    const text = 'DELETE FROM signing_secrets WHERE id = $1 AND workspace_id = $2 AND expires_at IS NOT NULL'
    if ((await tx.query(text, [id, workspaceId])).rowCount === 1) {
      await record?.(tx)
      return 'revoked'
    }
    const current = 'SELECT FROM signing_secrets WHERE id = $1 AND workspace_id = $2'
    return (await tx.query(current, [id, workspaceId])).rowCount === 1 ? 'current' : 'unknown'
  })
}

async function select(
  pool: Pool,
  masterKeys: MasterKeys,
  workspaceIds: readonly string[],
): Promise<Map<string, SigningSecret[]>> {
  const text = `
    SELECT s.id, s.workspace_id AS "workspaceId", s.sealed_value AS "sealedValue", s.created_at AS "createdAt",
           s.expires_at AS "expiresAt", w.asymmetric_signatures AS "isAsymmetric", ${dataKeyColumns}
    FROM signing_secrets s JOIN workspaces w ON w.id = s.workspace_id
    JOIN data_keys k ON k.workspace_id = s.workspace_id AND k.version = s.key_version
    WHERE s.workspace_id = ANY ($1::uuid[]) AND (s.expires_at IS NULL OR s.expires_at > now())
    ORDER BY s.expires_at DESC NULLS FIRST, s.id DESC`
  const query = { name: 'read_signing_secrets', text, values: [workspaceIds] }
  const { rows } = await pool.query<SealedRow & Pick<SigningSecret, 'isAsymmetric' | 'createdAt' | 'expiresAt'>>(query)
  const withKey = createKeyReader(masterKeys)
  const found = new Map<string, SigningSecret[]>()
  for (const row of rows) {
    const { id, workspaceId, isAsymmetric, createdAt, expiresAt } = row
    const opened = withKey(row, dataKey => ({ value: dataKey.open(id, row.sealedValue), seed: dataKey.derive(id) }))
    const secret = { id, workspaceId, ...opened, isAsymmetric, createdAt, expiresAt }
    found.set(workspaceId, [...(found.get(workspaceId) ?? []), secret])
  }
  return found
}

async function insert(tx: Transaction, masterKeys: MasterKeys, workspaceId: string): Promise<SigningSecret> {
  const id = newUuid()
  const value = `whsec_${randomBytes(secretBytes).toString('base64')}`
  const dataKey = await takeDataKey(tx, masterKeys, workspaceId)
  const { rows } = await tx.query<Pick<SigningSecret, 'createdAt' | 'isAsymmetric'>>(
    `INSERT INTO signing_secrets (id, workspace_id, sealed_value, key_version) VALUES ($1, $2, $3, $4)
     RETURNING created_at AS "createdAt",
               (SELECT asymmetric_signatures FROM workspaces WHERE id = $2) AS "isAsymmetric"`,
    [id, workspaceId, dataKey.seal(id, value), dataKey.version],
  )
  const [row] = rows
  if (!row) throw new Error('The signing secret was not stored.')
  return { id, workspaceId, value, seed: dataKey.derive(id), ...row, expiresAt: null }
}
