import { expect, it } from 'vitest'
import { insertTasks } from '../../src/tasks/insert-tasks.ts'
import { readTenantShares } from '../../src/usage/tenant-shares.ts'
import { addWorkspace, anOrganization, aTask, useDatabase } from '../setup.ts'

const db = useDatabase()

const useSlots = async (workspaceId: string, count: number) => {
  const tasks = Array.from({ length: count }, () => aTask({ workspaceId }))
  await insertTasks(db.pool, tasks)
  await db.pool.query(
    `UPDATE tasks SET state = 'processing', lease_until = now() + interval '1 minute' WHERE id = ANY ($1)`,
    [tasks.map(({ id }) => id)],
  )
}

it('ranks organizations, with all of their workspaces, by what they use, three at most', async () => {
  expect(await readTenantShares(db.pool)).toEqual([])
  const tenants = await Promise.all([1, 2, 3, 4].map(() => anOrganization(db.pool)))
  for (const [index, { organizationId, workspaceId }] of tenants.entries()) {
    await useSlots(workspaceId, index)
    await db.pool.query(
      `INSERT INTO usage_days (organization_id, day, executions, failed) VALUES ($1, (now() AT TIME ZONE 'UTC')::date, $2, 0)`,
      [organizationId, index === 0 ? 0 : 10],
    )
  }
  await useSlots(await addWorkspace(db.pool, tenants[1]?.organizationId ?? ''), 4)
  const shares = await readTenantShares(db.pool)
  expect(shares.filter(({ of }) => of === 'slots')).toEqual([
    { of: 'slots', rank: 1, share: 0.5 },
    { of: 'slots', rank: 2, share: 0.3 },
    { of: 'slots', rank: 3, share: 0.2 },
  ])
  expect(shares.filter(({ of }) => of === 'executions')).toHaveLength(3)
  expect(shares.filter(({ of }) => of === 'failures')).toEqual([])
})
