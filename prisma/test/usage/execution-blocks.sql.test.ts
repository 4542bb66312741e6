import { randomUUID } from 'node:crypto'
import { defaultTiers, type Tiers } from '@belfry/domain/tiers'
import { describe, expect, it } from 'vitest'
import { endDispatcher, leaveDispatchers } from '../../src/dispatchers/end-dispatcher.ts'
import { enterDispatchers } from '../../src/dispatchers/heartbeat.ts'
import type { Pool } from '../../src/postgres/pool.ts'
import { claimFromBlocks } from '../../src/tasks/claim-tasks.ts'
import type { Claim, ShortClaim } from '../../src/tasks/claimed-row.ts'
import { insertTasks } from '../../src/tasks/insert-tasks.ts'
import { undoClaims } from '../../src/tasks/undo-claims.ts'
import { returnUnspentBlocks } from '../../src/usage/execution-blocks.ts'
import { recordQuotaCrossings } from '../../src/usage/quota-crossings.ts'
import { readUsage } from '../../src/usage/read-usage.ts'
import { claimTasks } from '../claim-tasks.ts'
import { anOrganization, aTask, useOwnDatabase } from '../setup.ts'

const db = useOwnDatabase()

const limitedTo = (executions: number): Tiers => ({ ...defaultTiers, free: { ...defaultTiers.free, executions } })
const requestsFor = (ids: string[]) => ids.map(taskId => ({ taskId, token: randomUUID() }))
const used = async (organizationId: string) => (await readUsage(db.pool, organizationId))?.executions
const kindsOf = (claims: ReadonlyArray<Claim | ShortClaim>) => claims.map(({ kind }) => kind)

async function storeTasks(workspaceId: string, count: number): Promise<string[]> {
  const tasks = Array.from({ length: count }, () => aTask({ workspaceId }))
  await insertTasks(db.pool, tasks)
  return tasks.map(({ id }) => id)
}

async function claimNew(workspaceId: string, count: number, dispatcherId: string, tiers: Tiers): Promise<Claim[]> {
  return claimTasks(db.pool, { dispatcherId }, requestsFor(await storeTasks(workspaceId, count)), tiers)
}

async function claimedOf(workspaceId: string, count: number, dispatcherId: string, tiers: Tiers) {
  const claims = await claimNew(workspaceId, count, dispatcherId, tiers)
  return claims.flatMap(claim => (claim.kind === 'claimed' ? [claim.task] : []))
}

async function blocksOf(organizationId: string): Promise<Array<{ dispatcherId: string; unspent: number }>> {
  const text = `
    SELECT dispatcher_id AS "dispatcherId", unspent::int AS unspent FROM execution_blocks
    WHERE organization_id = $1 ORDER BY unspent`
  return (await db.pool.query(text, [organizationId])).rows
}

async function granted(organizationId: string): Promise<number> {
  const text = 'SELECT sum(executions)::int AS n FROM usage WHERE organization_id = $1'
  return (await db.pool.query(text, [organizationId])).rows[0].n
}

async function returnAll(): Promise<void> {
  while ((await returnUnspentBlocks(db.pool, 500)) > 0);
}

describe('a block of executions', () => {
  it('covers the claims of its dispatcher, and counts as used only when they are claimed', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const dispatcherId = randomUUID()
    const [first = '', second = ''] = await storeTasks(workspaceId, 2)
    const claim = (id: string) => claimFromBlocks(db.pool, { dispatcherId }, requestsFor([id]), defaultTiers)
    expect(await claim(first)).toEqual([{ kind: 'short', organizationId }])
    await claimTasks(db.pool, { dispatcherId }, requestsFor([first]))
    expect(await blocksOf(organizationId)).toEqual([{ dispatcherId, unspent: 624 }])
    expect(kindsOf(await claim(second))).toEqual(['claimed'])
    expect(await used(organizationId)).toBe(2)
    expect(await granted(organizationId)).toBe(625)
  })

  it('is followed by the next block: the 5,001st execution is claimed and counted', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool, 'unicorn')
    const dispatcherId = randomUUID()
    for (let i = 0; i < 10; i++) await claimNew(workspaceId, 500, dispatcherId, defaultTiers)
    expect(await blocksOf(organizationId)).toEqual([{ dispatcherId, unspent: 0 }])
    expect(await claimedOf(workspaceId, 1, dispatcherId, defaultTiers)).toHaveLength(1)
    expect(await used(organizationId)).toBe(5_001)
    expect(await blocksOf(organizationId)).toEqual([{ dispatcherId, unspent: 4_999 }])
  })

  it('leaves tasks that it does not cover unchanged, and claims the oldest due ones', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const dispatcherId = randomUUID()
    const tiers = limitedTo(10)
    await claimNew(workspaceId, 3, dispatcherId, tiers)
    await db.pool.query('UPDATE execution_blocks SET unspent = 2 WHERE organization_id = $1', [organizationId])
    const ids = await storeTasks(workspaceId, 4)
    const text = `UPDATE tasks SET due_at = now() - array_position($1::uuid[], id) * interval '1 second' WHERE id = ANY ($1)`
    await db.pool.query(text, [ids])
    const claims = await claimFromBlocks(db.pool, { dispatcherId }, requestsFor(ids), tiers)
    expect(kindsOf(claims)).toEqual(['short', 'short', 'claimed', 'claimed'])
    const { rows } = await db.pool.query(`SELECT DISTINCT state FROM tasks WHERE id = ANY ($1)`, [ids.slice(0, 2)])
    expect(rows).toEqual([{ state: 'pending' }])
  })

  it('does not block claims while another transaction holds it', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const { workspaceId: other } = await anOrganization(db.pool)
    const dispatcherId = randomUUID()
    await claimNew(workspaceId, 1, dispatcherId, defaultTiers)
    await claimNew(other, 1, dispatcherId, defaultTiers)
    const requests = requestsFor([...(await storeTasks(workspaceId, 1)), ...(await storeTasks(other, 1))])
    const holder = await db.pool.connect()
    try {
      await holder.query('BEGIN')
      await holder.query('SELECT FROM execution_blocks WHERE organization_id = $1 FOR UPDATE', [organizationId])
      const claims = await claimFromBlocks(db.pool, { dispatcherId }, requests, defaultTiers)
      expect(kindsOf(claims)).toEqual(['short', 'claimed'])
      await holder.query('ROLLBACK')
    } finally {
      holder.release()
    }
    expect(kindsOf(await claimTasks(db.pool, { dispatcherId }, requests))).toEqual(['claimed', 'claimed'])
  })

  it('is granted to each of 600 organizations in one batch', async () => {
    const workspaces = await Promise.all(Array.from({ length: 600 }, () => anOrganization(db.pool)))
    const ids = (await Promise.all(workspaces.map(({ workspaceId }) => storeTasks(workspaceId, 1)))).flat()
    const claims = await claimTasks(db.pool, { dispatcherId: randomUUID() }, requestsFor(ids))
    expect(new Set(kindsOf(claims))).toEqual(new Set(['claimed']))
    const counts = await Promise.all(workspaces.map(({ organizationId }) => used(organizationId)))
    expect(counts).toEqual(Array(600).fill(1))
  })
})

describe('the last executions of a month', () => {
  it('are exact when eight dispatchers race for a hundred, also with blocks of other dispatchers', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const tiers = limitedTo(700)
    const dispatchers = Array.from({ length: 8 }, () => randomUUID())
    for (let i = 0; i < 600; i += 25) await claimNew(workspaceId, 25, dispatchers[(i / 25) % 8] ?? '', tiers)
    expect(await used(organizationId)).toBe(600)
    const ids = await storeTasks(workspaceId, 240)
    const claims = await Promise.all(
      dispatchers.map(async (dispatcherId, i) => {
        const own: Claim[] = []
        for (let j = 0; j < 30; j += 3)
          own.push(
            ...(await claimTasks(db.pool, { dispatcherId }, requestsFor(ids.slice(i * 30 + j, i * 30 + j + 3)), tiers)),
          )
        return own
      }),
    )
    expect(claims.flat().filter(({ kind }) => kind === 'claimed')).toHaveLength(100)
    expect(
      claims.flat().filter(claim => claim.kind === 'gone' && claim.refusal === 'monthly_execution_limit'),
    ).toHaveLength(140)
    expect(await used(organizationId)).toBe(700)
  })

  it('go to the dispatcher that needs them: no task is cancelled while another dispatcher has unspent ones', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const [one, two] = [randomUUID(), randomUUID()]
    const tiers = limitedTo(160)
    expect(await claimedOf(workspaceId, 1, one, tiers)).toHaveLength(1)
    expect(await claimedOf(workspaceId, 150, two, tiers)).toHaveLength(150)
    expect(await claimedOf(workspaceId, 9, two, tiers)).toHaveLength(9)
    expect(await claimedOf(workspaceId, 1, one, tiers)).toHaveLength(0)
    expect(await used(organizationId)).toBe(160)
  })

  it('cross thresholds when they are used, not when they are granted', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const tiers = limitedTo(100)
    const crossings = async () => {
      await recordQuotaCrossings(db.pool, tiers)
      const text = 'SELECT percent FROM quota_crossings WHERE organization_id = $1 ORDER BY percent'
      return (await db.pool.query(text, [organizationId])).rows.map(({ percent }) => percent)
    }
    await claimNew(workspaceId, 79, randomUUID(), tiers)
    await db.pool.query('UPDATE usage SET executions = 100 WHERE organization_id = $1', [organizationId])
    await db.pool.query('UPDATE execution_blocks SET unspent = 21 WHERE organization_id = $1', [organizationId])
    expect(await used(organizationId)).toBe(79)
    expect(await crossings()).toEqual([])
    await claimNew(workspaceId, 1, randomUUID(), tiers)
    expect(await crossings()).toEqual([80])
  })
})

describe('unspent executions', () => {
  type End = (pool: Pool, id: string, isUnsent: (runId: string) => boolean) => Promise<unknown>
  it.each<[string, End]>([
    ['leaves', leaveDispatchers],
    ['dies', (pool, id) => endDispatcher(pool, id)],
  ])('of a dispatcher that %s return, and so do those of its prefetched claims', async (_how, end) => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const tiers = limitedTo(100)
    const dispatcher = await enterDispatchers(db.pool)
    await claimNew(workspaceId, 10, dispatcher.id, tiers)
    const ids = await storeTasks(workspaceId, 5)
    const prefetched = requestsFor(ids).map(request => ({ ...request, isPrefetch: true }))
    await claimTasks(db.pool, { dispatcherId: dispatcher.id }, prefetched, tiers)
    await db.pool.query('UPDATE tasks SET prefetched = true WHERE dispatcher_id = $1', [dispatcher.id])
    expect(await used(organizationId)).toBe(15)
    await end(db.pool, dispatcher.id, () => true)
    expect(await used(organizationId)).toBe(0)
    await Promise.all([1, 2, 3].map(() => returnUnspentBlocks(db.pool, 500)))
    await returnAll()
    expect(await blocksOf(organizationId)).toEqual([])
    expect([await granted(organizationId), await used(organizationId)]).toEqual([0, 0])
  })

  it('stay with a live dispatcher, and return when a restart of PostgreSQL removes its row', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const dispatcher = await enterDispatchers(db.pool)
    await claimNew(workspaceId, 10, dispatcher.id, defaultTiers)
    await returnAll()
    expect(await blocksOf(organizationId)).toEqual([{ dispatcherId: dispatcher.id, unspent: 615 }])
    await db.pool.query('TRUNCATE dispatchers')
    await returnAll()
    expect([await blocksOf(organizationId), await granted(organizationId)]).toEqual([[], 10])
    await claimNew(workspaceId, 1, dispatcher.id, defaultTiers)
    expect(await used(organizationId)).toBe(11)
  })

  it('are neither lost nor doubled while dispatchers claim, undo, die and return at once', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const tiers = limitedTo(300)
    const ids = await storeTasks(workspaceId, 500)
    const kept = await Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        let n = 0
        let dispatcherId = randomUUID()
        for (const id of ids.filter((_id, j) => j % 6 === i)) {
          const [claim] = await claimTasks(db.pool, { dispatcherId }, requestsFor([id]), tiers)
          if (claim?.kind !== 'claimed') continue
          if (n % 5 === 4 && (await undoClaims(db.pool, [claim.task]))[0]) {
            await returnUnspentBlocks(db.pool, 500)
            dispatcherId = randomUUID()
            const [again] = await claimTasks(db.pool, { dispatcherId }, requestsFor([id]), tiers)
            if (again?.kind !== 'claimed') continue
          }
          n++
        }
        return n
      }),
    )
    expect(kept.reduce((sum, n) => sum + n, 0)).toBe(300)
    expect(await used(organizationId)).toBe(300)
    const { rows } = await db.pool.query(
      `SELECT count(*)::int AS n FROM tasks WHERE workspace_id = $1 AND state = 'processing'`,
      [workspaceId],
    )
    expect(rows).toEqual([{ n: 300 }])
  })

  it('of a past month are not spent in the next one', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const dispatcher = await enterDispatchers(db.pool)
    const tiers = limitedTo(100)
    await claimNew(workspaceId, 4, dispatcher.id, tiers)
    await db.pool.query('UPDATE execution_blocks SET unspent = 50 WHERE organization_id = $1', [organizationId])
    await db.pool.query('UPDATE usage SET executions = 54 WHERE organization_id = $1', [organizationId])
    for (const table of ['usage', 'execution_blocks'])
      await db.pool.query(`UPDATE ${table} SET month = month - interval '1 month' WHERE organization_id = $1`, [
        organizationId,
      ])
    expect(await used(organizationId)).toBe(0)
    expect(await claimedOf(workspaceId, 101, dispatcher.id, tiers)).toHaveLength(100)
    await returnAll()
    const text = 'SELECT executions::int AS n FROM usage WHERE organization_id = $1 ORDER BY month'
    expect((await db.pool.query(text, [organizationId])).rows).toEqual([{ n: 4 }, { n: 100 }])
  })

  it('of a higher tier are not spent after a change to a lower one, and a lower tier does not limit a later higher one', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool, 'startup')
    const [one, two] = [randomUUID(), randomUUID()]
    const tiers = limitedTo(6)
    const chooseTier = (tier: string) =>
      db.pool.query('UPDATE organizations SET tier = $1 WHERE id = $2', [tier, organizationId])
    expect(await claimedOf(workspaceId, 2, one, tiers)).toHaveLength(2)
    expect(await claimedOf(workspaceId, 2, two, tiers)).toHaveLength(2)
    await chooseTier('free')
    expect(await claimedOf(workspaceId, 3, one, tiers)).toHaveLength(2)
    expect(await claimedOf(workspaceId, 3, two, tiers)).toHaveLength(0)
    expect(await used(organizationId)).toBe(6)
    await chooseTier('startup')
    expect(await claimedOf(workspaceId, 3, two, tiers)).toHaveLength(3)
    await chooseTier('free')
    expect(await claimedOf(workspaceId, 1, two, tiers)).toHaveLength(0)
    expect(await used(organizationId)).toBe(9)
  })
})
