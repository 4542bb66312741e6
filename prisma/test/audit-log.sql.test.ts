import { randomUUID } from 'node:crypto'
import { defaultTiers } from '@belfry/domain/tiers'
import { expect, it } from 'vitest'
import { insertAuditEntry } from '../src/audit-log.ts'
import { expireAuditLog } from '../src/retention/expire-log.ts'
import { organizationsWithAuditLog } from '../src/retention/kept-logs.ts'
import { anOrganization, useDatabase } from './setup.ts'

const db = useDatabase()

it.each(["UPDATE audit_log SET address = ''", 'DELETE FROM audit_log', 'TRUNCATE audit_log'])(
  'audit entries stay: %s is refused',
  async statement => {
    await insertAuditEntry(db.pool, {
      ...{ organizationId: randomUUID(), workspaceId: null, userId: randomUUID(), apiKeyId: null },
      ...{
        action: 'organization.created' as const,
        address: '192.0.2.1',
        objectId: 'org_x',
        details: { name: 'Acme' },
      },
    })
    await expect(db.pool.query(statement)).rejects.toThrow('append-only')
  },
)

it('expires with the tier, the oldest entries first, and never within 30 days', async () => {
  const { organizationId } = await anOrganization(db.pool, 'free')
  const deleted = randomUUID()
  const add = async (organization: string, days: number) => {
    const text = `
      INSERT INTO audit_log (id, organization_id, action, address, object_id)
      SELECT uuid_v7(now() - $2 * interval '1 day'), $1, 'organization.changed', '192.0.2.1', $2::text`
    await db.pool.query(text, [organization, days])
  }
  for (const days of [1, 29, 31, 89, 91, 800]) for (const id of [organizationId, deleted]) await add(id, days)
  const kept = async (organization: string) => {
    const text = 'SELECT object_id FROM audit_log WHERE organization_id = $1 ORDER BY id'
    return (await db.pool.query<{ object_id: string }>(text, [organization])).rows.map(row => Number(row.object_id))
  }
  const all = await organizationsWithAuditLog(db.pool, defaultTiers, null, 100)
  const daysOf = (id: string) => all.find(one => one.organizationId === id)?.days ?? 0
  expect([daysOf(organizationId), daysOf(deleted)]).toEqual([90, 730])
  const pages = [...all].map(({ organizationId: id }) => id)
  expect(await organizationsWithAuditLog(db.pool, defaultTiers, pages[0] ?? null, 1)).toEqual([all[1]])
  const expire = (id: string, days: number, limit: number) =>
    expireAuditLog(db.pool, { organizationId: id, days }, limit)
  expect(await expire(organizationId, 36_500, 10)).toBe(0)
  expect(await expire(organizationId, 90, 1)).toBe(1)
  expect(await kept(organizationId)).toEqual([91, 89, 31, 29, 1])
  expect(await expire(organizationId, 90, 10)).toBe(1)
  expect(await expire(deleted, 730, 10)).toBe(1)
  expect(await expire(organizationId, 0, 10)).toBe(2)
  expect(await kept(organizationId)).toEqual([29, 1])
  expect(await kept(deleted)).toEqual([91, 89, 31, 29, 1])
  await expect(db.pool.query('DELETE FROM audit_log')).rejects.toThrow('append-only')
})
