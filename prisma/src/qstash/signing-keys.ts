import { randomBytes } from 'node:crypto'
import { newUuid } from '@belfry/domain/id'
import type { MasterKeys } from '@belfry/vault'
import type { Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { createOpener, dataKeyColumns, type SealedRow, takeDataKey } from '../secrets/data-keys.ts'
import { inWorkspace, type OnRecord } from '../secrets/in-workspace.ts'

/** The keys of `Upstash-Signature`: the current one signs, and the next one follows it with a rotation. */
export type QstashSigningKeys = { current: string; next: string }

/**
 * Reads the keys of workspaces. Creates the first keys of a workspace. The result omits workspaces that do not exist.
 * @throws UnreadableSecretError when a key cannot be decrypted.
 */
export async function readQstashSigningKeys(pool: Pool, masterKeys: MasterKeys, workspaceIds: readonly string[]) {
  const found = await select(pool, masterKeys, workspaceIds)
  const lacking = workspaceIds.filter(id => !found.has(id))
  if (lacking.length === 0) return found
  for (const id of lacking) {
    await inWorkspace(pool, id, async tx => {
      const { rowCount } = await tx.query('SELECT FROM qstash_signing_keys WHERE workspace_id = $1', [id])
      if (rowCount === 0) await store(tx, masterKeys, id, { current: newKey(), next: newKey() })
    })
  }
  return select(pool, masterKeys, workspaceIds)
}

/** Makes the next key of a workspace the current one, and creates a new next key. Null when there is no such workspace. */
export async function rotateQstashSigningKeys(
  pool: Pool,
  masterKeys: MasterKeys,
  workspaceId: string,
  record?: OnRecord,
): Promise<QstashSigningKeys | null> {
  return inWorkspace(pool, workspaceId, async tx => {
    const keys = (await select(tx, masterKeys, [workspaceId])).get(workspaceId)
    const rotated = { current: keys?.next ?? newKey(), next: newKey() }
    await store(tx, masterKeys, workspaceId, rotated)
    await record?.(tx)
    return rotated
  })
}

/** Gives a workspace well-known keys, for development servers only. Skips the write when it has these keys already. */
export async function setQstashSigningKeys(
  pool: Pool,
  masterKeys: MasterKeys,
  workspaceId: string,
  keys: QstashSigningKeys,
): Promise<void> {
  await inWorkspace(pool, workspaceId, async tx => {
    const found = (await select(tx, masterKeys, [workspaceId])).get(workspaceId)
    if (found?.current === keys.current && found.next === keys.next) return
    await store(tx, masterKeys, workspaceId, keys)
  })
}

type SealedKeys = SealedRow & { nextId: string; sealedNext: Buffer }

async function select(db: Pick<Pool, 'query'>, masterKeys: MasterKeys, workspaceIds: readonly string[]) {
  const text = `
    SELECT s.workspace_id AS "workspaceId", s.current_id AS id, s.sealed_current AS "sealedValue", s.next_id AS "nextId",
           s.sealed_next AS "sealedNext", ${dataKeyColumns}
    FROM qstash_signing_keys s JOIN data_keys k ON k.workspace_id = s.workspace_id AND k.version = s.key_version
    WHERE s.workspace_id = ANY ($1::uuid[])`
  const { rows } = await db.query<SealedKeys>({ name: 'read_qstash_keys', text, values: [workspaceIds] })
  const open = createOpener(masterKeys)
  return new Map(
    rows.map(row => {
      const next = open({ ...row, id: row.nextId, sealedValue: row.sealedNext })
      return [row.workspaceId, { current: open(row), next }]
    }),
  )
}

async function store(tx: Transaction, masterKeys: MasterKeys, workspaceId: string, keys: QstashSigningKeys) {
  const dataKey = await takeDataKey(tx, masterKeys, workspaceId)
  const [currentId, nextId] = [newUuid(), newUuid()]
  const [current, next] = [dataKey.seal(currentId, keys.current), dataKey.seal(nextId, keys.next)]
  await tx.query(
    `INSERT INTO qstash_signing_keys (workspace_id, current_id, sealed_current, next_id, sealed_next, key_version)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (workspace_id) DO UPDATE
     SET current_id = excluded.current_id, sealed_current = excluded.sealed_current, next_id = excluded.next_id,
         sealed_next = excluded.sealed_next, key_version = excluded.key_version, updated_at = now()`,
    [workspaceId, currentId, current, nextId, next, dataKey.version],
  )
}

function newKey(): string {
  return `sig_${randomBytes(21).toString('base64url').replace(/[-_]/g, 'A')}`
}
