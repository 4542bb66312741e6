import { expect, it } from 'vitest'
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
