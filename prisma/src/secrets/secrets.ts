import { newUuid } from '@belfry/domain/id'
import type { MasterKeys } from '@belfry/vault'
import type { Secret } from '../generated/client.ts'
import { inTransaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import {
  createOpener,
  dataKeyColumns,
  orUnreadable,
  type SealedRow,
  takeDataKey,
  type UnreadableSecretError,
} from './data-keys.ts'
import { countNamed, inWorkspace, type OnRecord } from './in-workspace.ts'

/** A secret as the API shows it, without its value. */
export type SecretEntry = Pick<Secret, 'id' | 'name' | 'createdAt' | 'updatedAt'> & {
  /** The hosts that it may be sent to, as patterns; null for every host. */
  allowedHosts: string[] | null
}

/** A new value of a secret. `allowedHosts`: undefined keeps them, null allows every host. */
export type NewSecret = { name: string; value: string; allowedHosts?: string[] | null | undefined }

const entryColumns = 'id, name, allowed_hosts AS "allowedHosts", created_at AS "createdAt", updated_at AS "updatedAt"'

/** Creates a secret, or replaces its value. `full`: the workspace has `max` secrets. Null: there is no such workspace. */
export function putSecret(
  pool: Pool,
  masterKeys: MasterKeys,
  workspaceId: string,
  { name, value, allowedHosts }: NewSecret,
  max: number,
  record?: OnRecord<'created' | 'changed'>,
): Promise<{ kind: 'created' | 'changed'; secret: SecretEntry } | { kind: 'full' } | null> {
  return inWorkspace(pool, workspaceId, async tx => {
    const { total, existing } = await countNamed(tx, 'secrets', workspaceId, name)
    if (existing === null && total >= max) return { kind: 'full' as const }
    const id = existing ?? newUuid()
    const dataKey = await takeDataKey(tx, masterKeys, workspaceId)
    const sealed = [dataKey.seal(id, value), dataKey.version]
    const { rows } = await tx.query<SecretEntry>(
      `INSERT INTO secrets AS s (id, workspace_id, name, sealed_value, key_version, allowed_hosts)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (workspace_id, name)
         DO UPDATE SET sealed_value = excluded.sealed_value, key_version = excluded.key_version, updated_at = now(),
                       allowed_hosts = CASE WHEN $7 THEN excluded.allowed_hosts ELSE s.allowed_hosts END
       RETURNING ${entryColumns}`,
      [id, workspaceId, name, ...sealed, allowedHosts ?? null, allowedHosts !== undefined],
    )
    const [secret] = rows
    if (!secret) throw new Error('The secret was not stored.')
    const kind = existing === null ? 'created' : 'changed'
    await record?.(tx, kind)
    return { kind, secret }
  })
}

export async function listSecrets(pool: Pool, workspaceId: string): Promise<SecretEntry[]> {
  const text = `SELECT ${entryColumns} FROM secrets WHERE workspace_id = $1 ORDER BY name`
  return (await pool.query<SecretEntry>(text, [workspaceId])).rows
}

/** Deletes a secret. Returns false when the workspace has no secret of this name. */
export function deleteSecret(pool: Pool, workspaceId: string, name: string, record?: OnRecord): Promise<boolean> {
  return inTransaction(pool, async tx => {
    const text = 'DELETE FROM secrets WHERE workspace_id = $1 AND name = $2'
    if ((await tx.query(text, [workspaceId, name])).rowCount === 0) return false
    await record?.(tx)
    return true
  })
}

/** A decrypted secret. `allowedHosts`: the hosts that it may be sent to, as patterns; null for every host. */
export type OpenSecret = { value: string; allowedHosts: readonly string[] | null }

/** The secrets of a workspace by name. A secret that cannot be decrypted has an error instead. */
export type OpenSecrets = Map<string, OpenSecret | UnreadableSecretError>

/** The secrets of a workspace, and whether its log keeps the responses to requests with secrets. */
export type WorkspaceSecrets = { byName: OpenSecrets; keepsResponses: boolean }

/** Decrypts the secrets of workspaces. Only the dispatcher calls this, to send them. */
export async function readSecrets(pool: Pool, masterKeys: MasterKeys, workspaceIds: readonly string[]) {
  const text = `
    SELECT s.id, s.workspace_id AS "workspaceId", s.name, s.sealed_value AS "sealedValue",
           s.allowed_hosts AS "allowedHosts", w.keeps_responses_with_secrets AS "keepsResponses", ${dataKeyColumns}
    FROM secrets s JOIN workspaces w ON w.id = s.workspace_id JOIN data_keys k ON k.workspace_id = s.workspace_id AND k.version = s.key_version
    WHERE s.workspace_id = ANY ($1::uuid[])`
  const { rows } = await pool.query<SecretRow>({ name: 'read_secrets', text, values: [workspaceIds] })
  const open = createOpener(masterKeys)
  const found = new Map<string, WorkspaceSecrets>(
    workspaceIds.map(id => [id, { byName: new Map(), keepsResponses: true }]),
  )
  for (const row of rows) {
    const secrets = found.get(row.workspaceId)
    if (!secrets) continue
    const secret = orUnreadable(() => ({ value: open(row), allowedHosts: row.allowedHosts }))
    secrets.byName.set(row.name, secret)
    secrets.keepsResponses = row.keepsResponses
  }
  return found
}

type SecretRow = SealedRow & { name: string; allowedHosts: string[] | null; keepsResponses: boolean }
