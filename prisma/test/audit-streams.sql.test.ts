import { randomUUID } from 'node:crypto'
import { parseMasterKeys } from '@belfry/vault'
import { beforeEach, expect, it } from 'vitest'
import {
  openAuditStream,
  putAuditStream,
  readAuditStream,
  rotateAuditStreamSecret,
} from '../src/audit-streams/audit-streams.ts'
import { inTransaction } from '../src/postgres/in-transaction.ts'
import { purgeOrganizations } from '../src/purge/purge-organizations.ts'
import { findMasterKeyProblem, rewrapDataKeys } from '../src/secrets/data-keys.ts'
import { anOrganization, useDatabase } from './setup.ts'
import { aMasterKey } from './setup-secrets.ts'

const db = useDatabase()
// A master key is needed as long as any stream is encrypted by it.
beforeEach(() => db.pool.query('DELETE FROM audit_streams'))

const target = { url: 'https://logs.example.com/path', shownTarget: 'logs.example.com' }

it('an audit stream needs its old master key until it is rewrapped', async () => {
  const [oldKey, newKey] = [aMasterKey('old'), aMasterKey('new')]
  const [old, both, fresh] = [parseMasterKeys(oldKey), parseMasterKeys(`${newKey},${oldKey}`), parseMasterKeys(newKey)]
  const organizationId = randomUUID()
  await inTransaction(db.pool, tx => putAuditStream(tx, old, organizationId, target))
  const before = await openAuditStream(db.pool, old, organizationId)
  expect(before).toEqual({ url: target.url, secrets: [expect.stringMatching(/^whsec_/)], messageId: null })
  expect(await findMasterKeyProblem(db.pool, fresh)).toContain('no master key old')
  expect(await rewrapDataKeys(db.pool, both)).toBe(1)
  expect(await findMasterKeyProblem(db.pool, fresh)).toBeNull()
  expect(await openAuditStream(db.pool, fresh, organizationId)).toEqual(before)
})

it('the previous secret of a stream signs for 24 hours', async () => {
  const masterKeys = parseMasterKeys(aMasterKey('k1'))
  const organizationId = randomUUID()
  await inTransaction(db.pool, tx => putAuditStream(tx, masterKeys, organizationId, target))
  await inTransaction(db.pool, tx => rotateAuditStreamSecret(tx, masterKeys, organizationId))
  const [current, previous] = (await readAuditStream(db.pool, masterKeys, organizationId))?.secrets ?? []
  expect(current?.expiresAt).toBeNull()
  const hours = ((previous?.expiresAt?.getTime() ?? 0) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(23)
  expect(hours).toBeLessThanOrEqual(24)
  const signing = (await openAuditStream(db.pool, masterKeys, organizationId))?.secrets
  expect(signing).toEqual([current?.value, previous?.value])
})

it('a deleted organization keeps its stream for an hour, for its last entries', async () => {
  const { organizationId } = await anOrganization(db.pool, 'free')
  await db.pool.query('DELETE FROM workspaces WHERE organization_id = $1', [organizationId])
  await inTransaction(db.pool, tx => putAuditStream(tx, parseMasterKeys(aMasterKey('k1')), organizationId, target))
  const deleted = (minutes: number) =>
    db.pool.query(`UPDATE organizations SET deleted_at = now() - $2 * interval '1 minute' WHERE id = $1`, [
      organizationId,
      minutes,
    ])
  await deleted(59)
  expect(await purgeOrganizations(db.pool, 10)).toEqual([])
  await deleted(61)
  expect(await purgeOrganizations(db.pool, 10)).toEqual([organizationId])
  const { rows } = await db.pool.query('SELECT FROM audit_streams WHERE organization_id = $1', [organizationId])
  expect(rows).toEqual([])
})
