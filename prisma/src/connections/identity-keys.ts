import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { newUuid } from '@belfry/domain/id'
import type { MasterKeys } from '@belfry/vault'
import { inTransaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { openWithOwnKey, type SealedWithOwnKey, sealWithOwnKey } from '../secrets/own-data-key.ts'

// Verifiers keep the list of keys for some time, so a new key is published before it signs.
const publishedBefore = `interval '1 day'`
// Longer than a token lives after its key has signed last, and than verifiers keep the list.
const publishedAfter = `interval '2 days'`
const signsFor = `interval '90 days'`
const modulusBits = 2048
const createKeyPair = promisify(generateKeyPair)

/**
 * Makes sure that there is a key, and a new one each 90 days. The new key is published a day before it signs, and the old one
 * for two days after its successor was created.
 */
export async function rotateIdentityKeys(pool: Pool, masterKeys: MasterKeys): Promise<void> {
  if (await hasFreshKey(pool)) return
  await inTransaction(pool, async tx => {
    await tx.query(`SELECT pg_advisory_xact_lock(hashtext('identity_keys'))`)
    if (await hasFreshKey(tx)) return
    const { publicKey, privateKey } = await createKeyPair('rsa', { modulusLength: modulusBits })
    const id = newUuid()
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const { sealed, masterKeyId, wrappedKey } = sealWithOwnKey(masterKeys, id, pem)
    const jwk = JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: id, alg: 'RS256', use: 'sig' })
    await tx.query('DELETE FROM identity_keys WHERE retires_at <= now()')
    await tx.query(`UPDATE identity_keys SET retires_at = now() + ${publishedAfter} WHERE retires_at IS NULL`)
    const text = `
      INSERT INTO identity_keys (id, public_key, sealed_value, master_key_id, wrapped_key) VALUES ($1, $2, $3, $4, $5)`
    await tx.query(text, [id, jwk, sealed, masterKeyId, wrappedKey])
  })
}

async function hasFreshKey(db: Pick<Pool, 'query'>): Promise<boolean> {
  const text = `SELECT FROM identity_keys WHERE retires_at IS NULL AND created_at > now() - ${signsFor}`
  return (await db.query(text)).rowCount !== 0
}

/**
 * Returns the key that signs now, the private key as PEM: the newest key that verifiers know, or the first key at once. Null
 * without a key.
 */
export async function readIdentityKey(pool: Pool, masterKeys: MasterKeys) {
  const { rows } = await pool.query<SealedWithOwnKey & { id: string }>(`
    SELECT id, sealed_value AS sealed, master_key_id AS "masterKeyId", wrapped_key AS "wrappedKey" FROM identity_keys
    WHERE retires_at IS NULL OR retires_at > now()
    ORDER BY created_at <= now() - ${publishedBefore} DESC,
             CASE WHEN created_at <= now() - ${publishedBefore} THEN created_at END DESC NULLS LAST, created_at
    LIMIT 1`)
  const [row] = rows
  return row ? { id: row.id, privateKey: openWithOwnKey(masterKeys, row.id, row) } : null
}

export async function listIdentityKeys(pool: Pool): Promise<Array<Record<string, string>>> {
  const { rows } = await pool.query<{ jwk: Record<string, string> }>(`
    SELECT public_key::json AS jwk FROM identity_keys WHERE retires_at IS NULL OR retires_at > now()
    ORDER BY created_at DESC`)
  return rows.map(({ jwk }) => jwk)
}
