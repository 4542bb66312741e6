import { randomUUID } from 'node:crypto'
import { defaultTiers, type Tiers } from '@belfry/domain/tiers'
import { describe, expect, it } from 'vitest'
import type { Claim } from '../../src/tasks/claimed-row.ts'
import { insertTasks } from '../../src/tasks/insert-tasks.ts'
import { undoClaims } from '../../src/tasks/undo-claims.ts'
import { foldUsageChanges } from '../../src/usage/fold-usage-changes.ts'
import { recordQuotaCrossings } from '../../src/usage/quota-crossings.ts'
import { readDailyUsage, readUsage } from '../../src/usage/read-usage.ts'
import { claimTasks } from '../claim-tasks.ts'
import { addWorkspace, anOrganization, aTask, claimant, taskRow, useOwnDatabase } from '../setup.ts'

const db = useOwnDatabase()

const limitedTo = (executions: number): Tiers => ({ ...defaultTiers, free: { ...defaultTiers.free, executions } })

async function storeTasks(workspaceIds: string[], count: number): Promise<string[]> {
  const tasks = Array.from({ length: count }, (_, i) =>
    aTask({ workspaceId: String(workspaceIds[i % workspaceIds.length]) }),
  )
  await insertTasks(db.pool, tasks)
  return tasks.map(({ id }) => id)
}

function claim(ids: string[], tiers: Tiers): Promise<Claim[]> {
  const requests = ids.map(taskId => ({ taskId, token: randomUUID() }))
  return claimTasks(db.pool, claimant, requests, tiers)
}

const used = async (organizationId: string) => (await readUsage(db.pool, organizationId))?.executions

async function states(ids: string[]): Promise<Record<string, number>> {
  const text = `SELECT concat_ws(' ', state, state_reason) AS state, count(*)::int AS n FROM tasks WHERE id = ANY ($1) GROUP BY 1`
  const { rows } = await db.pool.query<{ state: string; n: number }>(text, [ids])
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]))
}

const dueAgain = (ids: string[]) =>
  db.pool.query(
    `UPDATE tasks SET state = 'retrying', lease_until = NULL, due_at = now() - interval '1 ms' WHERE id = ANY ($1)`,
    [ids],
  )

describe('executions', () => {
  it('are not limited, nor is storage, in the tier of installations that sell nothing', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool, 'unlimited')
    const counted = `INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit)
                     VALUES (utc_month(now()), $1, 5e12, 0, 0, 10000)`
    await db.pool.query(counted, [organizationId])
    await db.pool.query(`INSERT INTO storage (organization_id, bytes) VALUES ($1, 5e15)`, [organizationId])
    const ids = await storeTasks([workspaceId], 20)
    const claims = await claim(ids, defaultTiers)
    expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(20)
    await recordQuotaCrossings(db.pool, defaultTiers)
    const crossings = `SELECT FROM quota_crossings WHERE organization_id = $1`
    expect((await db.pool.query(crossings, [organizationId])).rowCount).toBe(0)
  })

  it('are exact to the task when twenty claims of one organization race for its last hundred', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const other = await addWorkspace(db.pool, organizationId)
    const ids = await storeTasks([workspaceId, other], 300)
    const batches = Array.from({ length: 20 }, (_, i) => ids.slice(i * 15, i * 15 + 15))
    const claims = await Promise.all(batches.map(batch => claim(batch, limitedTo(100))))
    expect(claims.flat().filter(({ kind }) => kind === 'claimed')).toHaveLength(100)
    expect(await states(ids)).toEqual({ processing: 100, 'cancelled monthly_execution_limit': 200 })
    expect(await used(organizationId)).toBe(100)
  })

  it('count claimed tasks, not tasks that changed during the claim', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool, 'unicorn')
    const ids = await storeTasks([workspaceId], 6000)
    let isOver = false
    async function change(): Promise<void> {
      while (!isOver) {
        const text = `UPDATE tasks SET updated_at = now() WHERE id = $1 AND state = 'pending'`
        await db.pool.query(text, [ids[Math.floor(Math.random() * ids.length)]])
      }
    }
    const changes = Promise.all([change(), change(), change()])
    const dispatcherId = randomUUID()
    let claimed = 0
    while (claimed < ids.length) {
      for (let i = 0; i < ids.length; i += 200) {
        const requests = ids.slice(i, i + 200).map(taskId => ({ taskId, token: randomUUID() }))
        const claims = await claimTasks(db.pool, { dispatcherId }, requests)
        claimed += claims.filter(({ kind }) => kind === 'claimed').length
      }
    }
    isOver = true
    await changes
    expect(await used(organizationId)).toBe(6000)
  })

  it('go to the oldest due tasks when a batch does not fit', async () => {
    const { workspaceId } = await anOrganization(db.pool)
    const ids = await storeTasks([workspaceId], 10)
    const text = `UPDATE tasks SET due_at = now() - array_position($1::uuid[], id) * interval '1 second' WHERE id = ANY ($1)`
    await db.pool.query(text, [ids])
    const claims = await claim(ids, limitedTo(3))
    expect(claims.map(({ kind }) => kind)).toEqual([...Array(7).fill('gone'), ...Array(3).fill('claimed')])
  })

  it('that are used up cancel a task with the reason and without an attempt', async () => {
    const { workspaceId } = await anOrganization(db.pool)
    const [id] = await storeTasks([workspaceId], 1)
    expect(await claim([String(id)], limitedTo(0))).toEqual([{ kind: 'gone', refusal: 'monthly_execution_limit' }])
    const ended = { state: 'cancelled', state_reason: 'monthly_execution_limit', attempts: 0, run_id: null }
    expect(await taskRow(db.pool, String(id))).toMatchObject({ ...ended, finished_at: expect.any(Date) })
  })

  it('count a task once: its retries continue when the limit is reached', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const ids = await storeTasks([workspaceId], 5)
    await claim(ids, limitedTo(5))
    for (let i = 0; i < 2; i++) {
      await dueAgain(ids)
      const again = await claim(ids, limitedTo(5))
      expect(again.map(({ kind }) => kind)).toEqual(Array(5).fill('claimed'))
    }
    expect(await used(organizationId)).toBe(5)
  })

  it('count a task once whose first claim was undone, and do not cancel it', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const [id = ''] = await storeTasks([workspaceId], 1)
    const [first] = await claim([id], limitedTo(1))
    if (first?.kind !== 'claimed') throw new Error('not claimed')
    await undoClaims(db.pool, [first.task])
    expect(await claim([id], limitedTo(1))).toMatchObject([{ kind: 'claimed', task: { attempt: 1 } }])
    expect(await used(organizationId)).toBe(1)
    while ((await foldUsageChanges(db.pool, 1000)) > 0);
    expect((await readDailyUsage(db.pool, organizationId)).at(-1)?.executions).toBe(1)
  })

  it.each([0, 1])('count an undone claim on no day, also when it is folded alone %s days later', async days => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const [id = ''] = await storeTasks([workspaceId], 1)
    const [first] = await claim([id], limitedTo(1))
    if (first?.kind !== 'claimed') throw new Error('not claimed')
    const runId = `uuid_v7(uuid_v7_time(run_id) - $2 * interval '1 day')`
    const aged = await db.pool.query(`UPDATE tasks SET run_id = ${runId} WHERE id = $1 RETURNING run_id AS "runId"`, [
      id,
      days,
    ])
    const age = `UPDATE usage_changes SET changed_at = changed_at - $2 * interval '1 day' WHERE workspace_id = $1`
    await db.pool.query(age, [workspaceId, days])
    const daily = async () => {
      while ((await foldUsageChanges(db.pool, 1000)) > 0);
      const text = 'SELECT executions::int FROM usage_days WHERE organization_id = $1'
      return (await db.pool.query(text, [organizationId])).rows.map(({ executions }) => executions)
    }
    expect(await daily()).toEqual([1])
    await undoClaims(db.pool, [{ ...first.task, ...aged.rows[0] }])
    expect(await daily()).toEqual([0])
  })

  it('count a claim once that is repeated after a lost response', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const [taskId = ''] = await storeTasks([workspaceId], 1)
    const request = { taskId, token: randomUUID() }
    const first = await claimTasks(db.pool, claimant, [request])
    expect(await claimTasks(db.pool, claimant, [request])).toMatchObject(first.map(({ kind }) => ({ kind })))
    expect(await used(organizationId)).toBe(1)
  })

  it('start at zero in a new month, and follow the current tier', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const tiers = limitedTo(2)
    await claim(await storeTasks([workspaceId], 5), tiers)
    await db.pool.query(`UPDATE usage SET month = month - interval '1 month' WHERE organization_id = $1`, [
      organizationId,
    ])
    expect(await states(await claimed(workspaceId, 3, tiers))).toEqual({
      processing: 2,
      'cancelled monthly_execution_limit': 1,
    })
    await db.pool.query(`UPDATE organizations SET tier = 'startup' WHERE id = $1`, [organizationId])
    expect(await states(await claimed(workspaceId, 3, tiers))).toEqual({ processing: 3 })
    expect(await used(organizationId)).toBe(5)
    await db.pool.query(`UPDATE organizations SET tier = 'free' WHERE id = $1`, [organizationId])
    expect(await states(await claimed(workspaceId, 3, tiers))).toEqual({ 'cancelled monthly_execution_limit': 3 })
    expect(await used(organizationId)).toBe(5)
  })

  it('of many organizations neither mix nor block each other, in any order of their tasks', async () => {
    const organizations = await Promise.all(Array.from({ length: 12 }, () => anOrganization(db.pool)))
    const ids = await storeTasks(
      organizations.map(({ workspaceId }) => workspaceId),
      12 * 20,
    )
    const shuffled = Array.from({ length: 8 }, (_, i) => ids.filter((_, j) => j % 8 === i))
    const orders = shuffled.map((part, i) => (i % 2 === 0 ? part : part.reverse()))
    await Promise.all(orders.map(order => claim(order, limitedTo(15))))
    const counts = await Promise.all(organizations.map(({ organizationId }) => used(organizationId)))
    expect(counts).toEqual(Array(12).fill(15))
    // The count equals the started tasks of all organizations.
    expect(await states(ids)).toEqual({ processing: 12 * 15, 'cancelled monthly_execution_limit': 12 * 5 })
  })
})

async function claimed(workspaceId: string, count: number, tiers: Tiers): Promise<string[]> {
  const ids = await storeTasks([workspaceId], count)
  await claim(ids, tiers)
  return ids
}

it.each([
  ['2026-11-30T23:59:59.999Z', '2026-11-01'],
  ['2026-12-01T00:00:00Z', '2026-12-01'],
  ['2027-01-01T05:00:00+14:00', '2026-12-01'],
])('%s is counted in the month of %s, in any time zone of the session', async (at, month) => {
  const client = await db.pool.connect()
  try {
    await client.query(`SET timezone = 'Pacific/Kiritimati'`)
    const { rows } = await client.query('SELECT utc_month($1)::text AS month', [at])
    expect(rows[0].month).toBe(month)
  } finally {
    client.release(true)
  }
})
