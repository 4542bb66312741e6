import { quotaThresholds } from '@belfry/domain/quota'
import { defaultTiers } from '@belfry/domain/tiers'
import { beforeEach, expect, it } from 'vitest'
import type { Pool } from '../../src/postgres/pool.ts'
import { tierRows } from '../../src/usage/count-executions.ts'
import {
  announceQuotaCrossings,
  crossingsStatement,
  type QuotaCrossing,
  recordQuotaCrossings,
} from '../../src/usage/quota-crossings.ts'
import { anOrganization, useOwnDatabase } from '../setup.ts'

const db = useOwnDatabase()
// Each call looks at all organizations.
let organizationId: string
beforeEach(async () => {
  await db.pool.query('DELETE FROM quota_crossings; DELETE FROM storage; DELETE FROM usage')
  organizationId = (await anOrganization(db.pool)).organizationId
  const text = `INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit)
                VALUES (utc_month(now()), $1, 0, 0, 0, 10000)`
  await db.pool.query(text, [organizationId])
})

const use = (executions: number) => db.pool.query('UPDATE usage SET executions = $1', [executions])
const note = () => recordQuotaCrossings(db.pool, defaultTiers)

async function announced(pool: Pool): Promise<Array<[string, number]>> {
  const told: QuotaCrossing[] = []
  await announceQuotaCrossings(pool, 100, async (_tx, crossings) => void told.push(...crossings))
  return told.map(({ resource, percent }) => [resource, percent])
}

it('a threshold of a quota is recorded and announced once a month, with concurrent callers', async () => {
  await use(7_999)
  expect(await note()).toBe(0)
  await use(8_000)
  const noted = await Promise.all([note(), note(), note()])
  expect(noted.sort()).toEqual([0, 0, 1])
  const told = await Promise.all([announced(db.pool), announced(db.pool), announced(db.pool)])
  expect(told.flat()).toEqual([['executions', 80]])
  await use(10_000)
  expect(await note()).toBe(1)
  expect(await announced(db.pool)).toEqual([['executions', 100]])
  expect([await note(), await announced(db.pool)]).toEqual([0, []])
})

it('a failed announcement is repeated later', async () => {
  await db.pool.query('INSERT INTO storage (organization_id, bytes) VALUES ($1, 85000000)', [organizationId])
  expect(await note()).toBe(1)
  const failing = announceQuotaCrossings(db.pool, 100, () => Promise.reject(new Error('no outbox')))
  await expect(failing).rejects.toThrow('no outbox')
  expect(await announced(db.pool)).toEqual([['storage', 80]])
})

it('only 100 % is announced when it is reached before the announcement of 80 %', async () => {
  await use(10_000)
  await db.pool.query('INSERT INTO storage (organization_id, bytes) VALUES ($1, 85000000)', [organizationId])
  expect(await note()).toBe(3)
  await db.pool.query('UPDATE quota_crossings SET month = month - 40, announced_at = now()')
  expect(await note()).toBe(3)
  const text = `UPDATE quota_crossings SET announced_at = now() WHERE resource = 'storage'`
  await db.pool.query(text)
  expect(await announced(db.pool)).toEqual([['executions', 100]])
})

it('the time grows with the organizations, not with their square', async () => {
  const organizations = 2_000
  await db.pool.query(
    `WITH added AS (
       INSERT INTO organizations (id, name, slug, tier) SELECT gen_random_uuid(), 'A', 'many-' || i, 'free'
       FROM generate_series(1, $1::int) i RETURNING id
     ), used AS (
       INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit)
       SELECT utc_month(now()), id, 1, 0, 0, 10000 FROM added
     )
     INSERT INTO storage (organization_id, bytes) SELECT id, 1000 FROM added`,
    [organizations],
  )
  // As if they had grown since the last ANALYZE.
  await db.pool.query(
    `UPDATE pg_class SET reltuples = 10, relpages = 1 WHERE relname IN ('organizations', 'usage', 'storage')`,
  )
  const values = [quotaThresholds, ...tierRows(defaultTiers, 2).params]
  const { rows } = await db.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${crossingsStatement}`, values)
  expect(rowsRead(rows[0]['QUERY PLAN'][0].Plan)).toBeLessThan(40 * organizations)
})

type Node = { 'Actual Rows': number; 'Actual Loops': number; 'Rows Removed by Filter'?: number; Plans?: Node[] }

function rowsRead(node: Node): number {
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), own)
}
