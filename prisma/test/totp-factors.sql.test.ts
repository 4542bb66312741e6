import { newUuid } from '@belfry/domain/id'
import { parseMasterKeys } from '@belfry/vault'
import { expect, it } from 'vitest'
import { countWrappedKeys, findMasterKeyProblem, rewrapDataKeys } from '../src/secrets/data-keys.ts'
import { openWithOwnKey, type SealedWithOwnKey, sealWithOwnKey } from '../src/secrets/own-data-key.ts'
import { useDatabase } from './setup.ts'
import { aMasterKey } from './setup-secrets.ts'

const db = useDatabase()

it('the secret of an authenticator app needs its old master key until it is rewrapped', async () => {
  const [oldKey, newKey] = [aMasterKey('old'), aMasterKey('new')]
  const [old, both, fresh] = [oldKey, `${newKey},${oldKey}`, newKey].map(parseMasterKeys)
  const [userId, id] = [newUuid(), newUuid()]
  await db.pool.query(`INSERT INTO users (id, email, name, password_hash) VALUES ($1, 'ada@example.com', 'Ada', '')`, [
    userId,
  ])
  const { sealed, masterKeyId, wrappedKey } = sealWithOwnKey(old!, id, 'JBSWY3DPEHPK3PXP')
  await db.pool.query(
    `INSERT INTO totp_factors (id, user_id, sealed_secret, master_key_id, wrapped_key) VALUES ($1, $2, $3, $4, $5)`,
    [id, userId, sealed, masterKeyId, wrappedKey],
  )
  expect(await findMasterKeyProblem(db.pool, fresh!)).toContain('no master key old')
  expect(await rewrapDataKeys(db.pool, both!)).toBe(1)
  expect(await findMasterKeyProblem(db.pool, fresh!)).toBeNull()
  expect([...(await countWrappedKeys(db.pool)).keys()]).toEqual(['new'])
  const { rows } = await db.pool.query<SealedWithOwnKey>(
    'SELECT sealed_secret AS sealed, master_key_id AS "masterKeyId", wrapped_key AS "wrappedKey" FROM totp_factors',
  )
  expect(openWithOwnKey(fresh!, id, rows[0]!)).toBe('JBSWY3DPEHPK3PXP')
  expect(() => openWithOwnKey(fresh!, newUuid(), rows[0]!)).toThrow()
})
