import { createPrivateKey, createPublicKey } from 'node:crypto'
import { parseMasterKeys } from '@belfry/vault'
import { beforeEach, expect, it } from 'vitest'
import { listIdentityKeys, readIdentityKey, rotateIdentityKeys } from '../src/connections/identity-keys.ts'
import { findMasterKeyProblem, rewrapDataKeys } from '../src/secrets/data-keys.ts'
import { useDatabase } from './setup.ts'
import { aMasterKey, someMasterKeys } from './setup-secrets.ts'

const db = useDatabase()
const masterKeys = someMasterKeys()
const published = async () => (await listIdentityKeys(db.pool)).map(({ kid }) => kid)
const signing = async () => (await readIdentityKey(db.pool, masterKeys))?.id
const pass = (time: string) =>
  db.pool.query(
    `UPDATE identity_keys SET created_at = created_at - $1::interval, retires_at = retires_at - $1::interval`,
    [time],
  )

beforeEach(() => db.pool.query('TRUNCATE identity_keys'))

it('the first key signs at once, and callers at the same time create one', async () => {
  await Promise.all(Array.from({ length: 8 }, () => rotateIdentityKeys(db.pool, masterKeys)))
  expect(await published()).toEqual([await signing()])
  const key = await readIdentityKey(db.pool, masterKeys)
  const [jwk] = await listIdentityKeys(db.pool)
  const own = createPublicKey(createPrivateKey(key?.privateKey ?? '')).export({ format: 'jwk' })
  expect(jwk).toEqual({ ...own, kid: key?.id, alg: 'RS256', use: 'sig' })
})

it('a key is replaced after 90 days; the new one signs after a day, and the old one is published for two', async () => {
  await rotateIdentityKeys(db.pool, masterKeys)
  const first = await signing()
  await pass('89 days 23 hours')
  await rotateIdentityKeys(db.pool, masterKeys)
  expect(await published()).toEqual([first])
  await pass('1 hour')
  await rotateIdentityKeys(db.pool, masterKeys)
  const [second] = await published()
  expect([await published(), await signing()]).toEqual([[second, first], first])
  await pass('23 hours 59 minutes')
  expect(await signing()).toBe(first)
  await pass('2 minutes')
  expect([await published(), await signing()]).toEqual([[second, first], second])
  await pass('1 day')
  expect([await published(), await signing()]).toEqual([[second], second])
})

it('a private key needs its old master key until it is rewrapped', async () => {
  const [oldKey, newKey] = [aMasterKey('old'), aMasterKey('new')]
  await rotateIdentityKeys(db.pool, parseMasterKeys(oldKey))
  const fresh = parseMasterKeys(newKey)
  expect(await findMasterKeyProblem(db.pool, fresh)).toContain('no master key old')
  expect(await rewrapDataKeys(db.pool, parseMasterKeys(`${newKey},${oldKey}`))).toBe(1)
  expect(await findMasterKeyProblem(db.pool, fresh)).toBeNull()
  expect((await readIdentityKey(db.pool, fresh))?.privateKey).toContain('PRIVATE KEY')
})
