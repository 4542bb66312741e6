import { randomBytes } from 'node:crypto'
import { newUuid } from '@belfry/domain/id'
import type { MasterKeys } from '@belfry/vault'
import type { SigningSecret as StoredSecret } from '../generated/client.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { createKeyReader, dataKeyColumns, type SealedRow, takeDataKey } from './data-keys.ts'
import { inWorkspace, type OnRecord } from './in-workspace.ts'

/** A secret that signs the deliveries of a workspace, or of one subscription. The current one has no expiry. */
export type SigningSecret = Pick<StoredSecret, 'id' | 'workspaceId' | 'createdAt' | 'expiresAt'> & {
  value: string
  /** The seed of its Ed25519 key pair. It follows from the data key, so the holder of `value` cannot compute it. */
  seed: Buffer
  /** Whether the key pair signs too. */
  isAsymmetric: boolean
}

/** SQL: how long a replaced secret continues to sign. */
const overlap = `interval '24 hours'`
const secretBytes = 32

/** How many secrets of a workspace, or of a subscription, may sign at the same time. */
export const maxSigningSecrets = 5

export type SecretOwner = { workspaceId: string; subscriptionId?: string }

const ofWorkspaces = { table: 'signing_secrets', column: 'workspace_id' }
const ofSubscriptions = { table: 'subscription_secrets', column: 'subscription_id' }

type Place = typeof ofWorkspaces

function placeOf({ workspaceId, subscriptionId }: SecretOwner): Place & { id: string } {
  if (subscriptionId === undefined) return { ...ofWorkspaces, id: workspaceId }
  return { ...ofSubscriptions, id: subscriptionId }
}

/**
 * Reads the signing secrets of workspaces, the current one first. Creates the first secret of a workspace. The result omits
 * workspaces that do not exist.
 * @throws UnreadableSecretError when a secret cannot be decrypted.
 */
export async function readSigningSecrets(pool: Pool, masterKeys: MasterKeys, workspaceIds: readonly string[]) {
  const found = await select(pool, masterKeys, ofWorkspaces, workspaceIds)
  const lacking = workspaceIds.filter(id => !found.get(id)?.some(secret => secret.expiresAt === null))
  if (lacking.length === 0) return found
  for (const id of lacking) await ensureSigningSecret(pool, masterKeys, id)
  return select(pool, masterKeys, ofWorkspaces, workspaceIds)
}

/**
 * Reads the signing secrets of subscriptions, the current one first.
 * @throws UnreadableSecretError when a secret cannot be decrypted.
 */
export function readSubscriptionSecrets(pool: Pool, masterKeys: MasterKeys, subscriptionIds: readonly string[]) {
  return select(pool, masterKeys, ofSubscriptions, subscriptionIds)
}

export async function ensureSigningSecret(pool: Pool, masterKeys: MasterKeys, workspaceId: string): Promise<void> {
  await inWorkspace(pool, workspaceId, async tx => {
    const text = 'SELECT FROM signing_secrets WHERE workspace_id = $1 AND expires_at IS NULL'
    const { rowCount } = await tx.query(text, [workspaceId])
    if (rowCount === 0) await insert(tx, masterKeys, { workspaceId }, randomSecret())
  })
}

/**
 * Replaces the current secret, or creates the first one of a subscription. The replaced secret continues to sign for 24
 * hours. Returns `full` when the maximum number of secrets sign already, and null if the owner does not exist.
 * @param value - The new secret. Default: a random one.
 */
export async function rotateSigningSecret(
  pool: Pool,
  masterKeys: MasterKeys,
  owner: SecretOwner,
  record?: OnRecord<SigningSecret>,
  value = randomSecret(),
): Promise<SigningSecret | 'full' | null> {
  const { table, column, id } = placeOf(owner)
  return inWorkspace(pool, owner.workspaceId, async tx => {
    if (!(await isOwner(tx, owner))) return null
    await tx.query(`DELETE FROM ${table} WHERE ${column} = $1 AND expires_at <= now()`, [id])
    const signing = await tx.query(`SELECT FROM ${table} WHERE ${column} = $1`, [id])
    if ((signing.rowCount ?? 0) >= maxSigningSecrets) return 'full' as const
    const text = `UPDATE ${table} SET expires_at = now() + ${overlap} WHERE ${column} = $1 AND expires_at IS NULL`
    await tx.query(text, [id])
    const secret = await insert(tx, masterKeys, owner, value)
    await record?.(tx, secret)
    return secret
  })
}

export function randomSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`
}

async function isOwner(tx: Transaction, { workspaceId, subscriptionId }: SecretOwner): Promise<boolean> {
  if (subscriptionId === undefined) return true
  const text = 'SELECT FROM subscriptions WHERE id = $1 AND workspace_id = $2'
  return (await tx.query(text, [subscriptionId, workspaceId])).rowCount === 1
}

/** Revokes a replaced secret. The current one cannot be revoked, only rotated. */
export function revokeSigningSecret(pool: Pool, owner: SecretOwner, secretId: string, record?: OnRecord) {
  const { table, column, id } = placeOf(owner)
  const isSecret = `id = $1 AND ${column} = $2 AND workspace_id = $3`
  const values = [secretId, id, owner.workspaceId]
  return inTransaction(pool, async tx => {
    const text = `DELETE FROM ${table} WHERE ${isSecret} AND expires_at IS NOT NULL`
    if ((await tx.query(text, values)).rowCount === 1) {
      await record?.(tx)
      return 'revoked'
    }
    return (await tx.query(`SELECT FROM ${table} WHERE ${isSecret}`, values)).rowCount === 1 ? 'current' : 'unknown'
  })
}

/** Removes the secrets of a subscription, so the secrets of its workspace sign. Returns how many there were. */
export async function removeSubscriptionSecrets(
  tx: Transaction,
  { workspaceId, subscriptionId }: Required<SecretOwner>,
): Promise<number> {
  const text = 'DELETE FROM subscription_secrets WHERE subscription_id = $1 AND workspace_id = $2'
  return (await tx.query(text, [subscriptionId, workspaceId])).rowCount ?? 0
}

type SecretRow = SealedRow & Pick<SigningSecret, 'isAsymmetric' | 'createdAt' | 'expiresAt'> & { ownerId: string }

async function select(pool: Pool, masterKeys: MasterKeys, { table, column }: Place, ownerIds: readonly string[]) {
  const text = `
    SELECT s.${column} AS "ownerId", s.id, s.workspace_id AS "workspaceId", s.sealed_value AS "sealedValue",
           s.created_at AS "createdAt", s.expires_at AS "expiresAt", w.asymmetric_signatures AS "isAsymmetric",
           ${dataKeyColumns}
    FROM ${table} s JOIN workspaces w ON w.id = s.workspace_id
    JOIN data_keys k ON k.workspace_id = s.workspace_id AND k.version = s.key_version
    WHERE s.${column} = ANY ($1::uuid[]) AND (s.expires_at IS NULL OR s.expires_at > now())
    ORDER BY s.expires_at DESC NULLS FIRST, s.id DESC`
  const { rows } = await pool.query<SecretRow>({ name: `read_${table}`, text, values: [ownerIds] })
  const withKey = createKeyReader(masterKeys)
  const found = new Map<string, SigningSecret[]>()
  for (const row of rows) {
    const { ownerId, id, workspaceId, isAsymmetric, createdAt, expiresAt } = row
    const opened = withKey(row, dataKey => ({ value: dataKey.open(id, row.sealedValue), seed: dataKey.derive(id) }))
    const secret = { id, workspaceId, ...opened, isAsymmetric, createdAt, expiresAt }
    found.set(ownerId, [...(found.get(ownerId) ?? []), secret])
  }
  return found
}

async function insert(tx: Transaction, masterKeys: MasterKeys, owner: SecretOwner, value: string) {
  const id = newUuid()
  const { workspaceId, subscriptionId } = owner
  const dataKey = await takeDataKey(tx, masterKeys, workspaceId)
  const [column, parameter] = subscriptionId === undefined ? ['', ''] : [', subscription_id', ', $5']
  const ofSubscription = subscriptionId === undefined ? [] : [subscriptionId]
  const { rows } = await tx.query<Pick<SigningSecret, 'createdAt' | 'isAsymmetric'>>(
    `INSERT INTO ${placeOf(owner).table} (id, workspace_id, sealed_value, key_version${column})
     VALUES ($1, $2, $3, $4${parameter})
     RETURNING created_at AS "createdAt",
               (SELECT asymmetric_signatures FROM workspaces WHERE id = $2) AS "isAsymmetric"`,
    [id, workspaceId, dataKey.seal(id, value), dataKey.version, ...ofSubscription],
  )
  const [row] = rows
  if (!row) throw new Error('The signing secret was not stored.')
  return { id, workspaceId, value, seed: dataKey.derive(id), ...row, expiresAt: null }
}
