import { expect, it } from 'vitest'
import { endGracePeriods } from '../src/billing/billing-accounts.ts'
import { readTenants } from '../src/organizations/tenants.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { addWorkspace, anOrganization, aTask, useDatabase } from './setup.ts'

const db = useDatabase()

it('an organization of the tier free is new until a task of one of its workspaces has succeeded', async () => {
  const { organizationId, workspaceId } = await anOrganization(db.pool)
  const other = await addWorkspace(db.pool, organizationId)
  const task = aTask({ workspaceId: other })
  await insertTasks(db.pool, [task])
  const isNew = async () => (await readTenants(db.pool, [workspaceId, other])).map(tenant => tenant.isNew)
  const set = (tier: string, state: string) =>
    db.pool.query(
      `WITH tier AS (UPDATE organizations SET tier = $2 WHERE id = $1)
       UPDATE tasks SET state = $4::task_state, finished_at = now() WHERE id = $3`,
      [organizationId, tier, task.id, state],
    )
  await set('free', 'dead')
  expect(await isNew()).toEqual([true, true])
  await set('startup', 'dead')
  expect(await isNew()).toEqual([false, false])
  await set('free', 'success')
  expect(await isNew()).toEqual([false, false])
})

it('the end of a grace period makes the tier free once, and an operator may set another one', async () => {
  const { organizationId } = await anOrganization(db.pool, 'startup')
  const set = (tier: string) =>
    db.pool.query('UPDATE organizations SET tier = $2 WHERE id = $1', [organizationId, tier])
  const tierNow = async () =>
    (await db.pool.query('SELECT tier FROM organizations WHERE id = $1', [organizationId])).rows[0].tier
  const graceUntil = new Date(Date.now() + 3_600_000)
  await db.pool.query(
    `INSERT INTO billing_accounts (organization_id, status, tier, grace_until) VALUES ($1, 'past_due', 'startup', $2)`,
    [organizationId, graceUntil],
  )
  const ended: unknown[] = []
  const endAt = (ms: number) =>
    endGracePeriods(db.pool, new Date(graceUntil.getTime() + ms), 10, async (_tx, one) => void ended.push(one))
  expect([await endAt(-1), await tierNow()]).toEqual([0, 'startup'])
  expect([await endAt(0), await tierNow(), ended]).toEqual([1, 'free', [{ organizationId, from: 'startup' }]])
  await set('unicorn')
  expect([await endAt(60_000), await tierNow()]).toEqual([0, 'unicorn'])
})
