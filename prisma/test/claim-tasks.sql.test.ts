import { randomUUID } from 'node:crypto'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { describe, expect, it } from 'vitest'
import { inputValues } from '../src/postgres/statement-input.ts'
import { changePendingTask, endTask } from '../src/tasks/change-task.ts'
import { unclaimedInput, unclaimedStatement } from '../src/tasks/explain-claims.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { originOf } from '../src/tasks/task-row.ts'
import { claimTasks } from './claim-tasks.ts'
import { aTask, claimAll, claimant, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

describe('claimTasks', () => {
  it('claims a due task for its next attempt, returns its request and sets the lease', async () => {
    const task = aTask()
    await insertTasks(db.pool, [task])
    const [claim] = await claimAll(db.pool, [task.id])
    expect(claim).toMatchObject({
      kind: 'claimed',
      task: { taskId: task.id, workspaceId: task.workspaceId, attempt: 1, url: task.url, payload: task.payload },
    })
    const row = await taskRow(db.pool, task.id)
    expect(row).toMatchObject({ state: 'processing', attempts: 1 })
    if (claim?.kind !== 'claimed') throw new Error('not claimed')
    expect(row.run_id).toBe(claim.task.runId)
    const leaseMs = row.lease_until.getTime() - claim.task.claimedAt.getTime()
    expect(Math.abs(leaseMs - (task.timeoutMs + 15_000))).toBeLessThan(50)
    expect(claim.task.claimedAt.getTime()).toBeGreaterThanOrEqual(claim.task.scheduledAt.getTime())
  })

  it('answers in the order of the requests, for tasks in any state', async () => {
    const due = aTask()
    const far = aTask({ executeAt: new Date(Date.now() + 60_000) })
    const cancelled = aTask({ executeAt: new Date(Date.now() + 60_000) })
    await insertTasks(db.pool, [due, far, cancelled])
    await endTask(db.pool, cancelled.workspaceId, cancelled.id, 'cancel')
    const claims = await claimAll(db.pool, [cancelled.id, randomUUID(), far.id, due.id])
    expect(claims.map(({ kind }) => kind)).toEqual(['gone', 'gone', 'early', 'claimed'])
    const early = claims[2]
    expect(early?.kind === 'early' && early.dueInMs).toBeGreaterThan(55_000)
    expect((await taskRow(db.pool, far.id)).state).toBe('pending')
  })

  it('gives each task to exactly one of several dispatchers that claim all of them at once', async () => {
    const tasks = Array.from({ length: 200 }, () => aTask())
    await insertTasks(db.pool, tasks.slice(0, 100))
    await insertTasks(db.pool, tasks.slice(100))
    const ids = tasks.map(({ id }) => id)
    const orders = [ids, [...ids].reverse(), [...ids].sort(), [...ids].sort().reverse()]
    const answers = await Promise.all(orders.map(order => claimAll(db.pool, order)))
    const claimed = answers.flat().flatMap(claim => (claim.kind === 'claimed' ? [claim.task.taskId] : []))
    expect(claimed.sort()).toEqual(ids.sort())
  })

  it('answers only one of several requests for the same task', async () => {
    const task = aTask()
    await insertTasks(db.pool, [task])
    const claims = await claimAll(db.pool, [task.id, task.id, task.id])
    expect(claims.map(({ kind }) => kind).sort()).toEqual(['claimed', 'gone', 'gone'])
    expect((await taskRow(db.pool, task.id)).attempts).toBe(1)
  })

  it('returns the same claim for the same token, as after a lost response to the commit', async () => {
    const task = aTask()
    await insertTasks(db.pool, [task])
    const request = { taskId: task.id, token: randomUUID() }
    const [first] = await claimTasks(db.pool, claimant, [request])
    expect(first?.kind).toBe('claimed')
    expect(await claimTasks(db.pool, claimant, [request])).toEqual([{ ...first, receivedAt: expect.any(Number) }])
    expect((await taskRow(db.pool, task.id)).attempts).toBe(1)
    expect(await claimAll(db.pool, [task.id])).toEqual([{ kind: 'gone' }])
  })

  it('claims for one origin only, as the URL spells it, and returns the origin of other tasks', async () => {
    const task = aTask({ url: 'https://Example.com:8443?x=/' })
    await insertTasks(db.pool, [task])
    const claimFor = async (origin: string) =>
      (await claimTasks(db.pool, claimant, [{ taskId: task.id, token: randomUUID(), origin }]))[0]
    const moved = { kind: 'moved', origin: 'https://Example.com:8443' }
    expect(await claimFor('https://example.com')).toEqual(moved)
    expect(await claimFor('https://Example.com')).toEqual(moved)
    expect(await taskRow(db.pool, task.id)).toMatchObject({ state: 'pending', attempts: 0 })
    expect((await claimFor(moved.origin))?.kind).toBe('claimed')
    expect((await claimFor('https://example.com'))?.kind).toBe('gone')
  })

  it.each([
    'https://example.com',
    'https://example.com/a//b',
    'https://example.com?a=//b',
    '{{ secrets.URL }}',
    '{{ secrets.URL }}/x',
    'https://{{ secrets.HOST }}/x',
    'https://{{ secrets.A }}.example.com?x',
  ])('claims %s for the origin of its job', async url => {
    const task = aTask({ url })
    await insertTasks(db.pool, [task])
    const [found] = (
      await db.pool.query(`SELECT ${originOf('url')} AS origin FROM task_requests WHERE task_id = $1`, [task.id])
    ).rows
    const [claim] = await claimTasks(db.pool, claimant, [
      { taskId: task.id, token: randomUUID(), origin: found.origin },
    ])
    expect(claim?.kind).toBe('claimed')
  })

  // The transaction may be an earlier claim with the same token, whose commit hangs.
  it.each([
    ['claimed', `now() + interval '1 hour'`],
    ['gone', `now() - interval '1 second'`],
  ])('returns "busy" while another transaction holds the task, and "%s" after it', async (kind, expiresAt) => {
    const task = aTask()
    await insertTasks(db.pool, [task])
    await db.pool.query(`UPDATE tasks SET expires_at = ${expiresAt} WHERE id = $1`, [task.id])
    const other = await db.pool.connect()
    try {
      await other.query('BEGIN')
      await other.query('SELECT 1 FROM tasks WHERE id = $1 FOR UPDATE', [task.id])
      expect(await claimAll(db.pool, [task.id])).toEqual([{ kind: 'busy' }])
    } finally {
      await other.query('ROLLBACK')
      other.release()
    }
    expect((await claimAll(db.pool, [task.id]))[0]?.kind).toBe(kind)
  })

  it('reads the request of an unclaimed task only when an earlier claim with the same token was committed', async () => {
    const task = aTask()
    await insertTasks(db.pool, [task])
    const request = { taskId: task.id, token: randomUUID() }
    const read = async (token: string) => {
      const values = inputValues(unclaimedInput, [{ ...request, token }])
      return (await db.pool.query(unclaimedStatement, values)).rows
    }
    const others = [{ payload: null, origin: 'https://example.com' }]
    expect(await read(request.token)).toMatchObject(others)
    await claimTasks(db.pool, claimant, [request])
    expect(await read(randomUUID())).toMatchObject(others)
    expect(await read(request.token)).toMatchObject([{ payload: task.payload }])
    expect(await claimTasks(db.pool, claimant, [request])).toMatchObject([{ task: { payload: task.payload } }])
  })

  it('sends the request of a change that commits between the reads and the writes of the claim', async () => {
    // Only a slow function within the claim could hit that moment exactly, so many claims race with changes. The change that
    // loses must be refused, and a claim that comes second must return the new request.
    for (let round = 0; round < propertyRuns(60); round++) {
      const task = aTask()
      await insertTasks(db.pool, [task])
      const [changed, [claim]] = await Promise.all([
        changePendingTask(db.pool, task.workspaceId, task.id, { payload: '"new"', url: 'https://example.com/new' }),
        claimAll(db.pool, [task.id]),
      ])
      if (claim?.kind === 'claimed') {
        const expected = changed.kind === 'moved' ? '"new"' : task.payload
        expect(claim.task.payload).toBe(expected)
      } else {
        expect([claim?.kind, changed.kind]).toEqual(['busy', 'moved'])
      }
    }
  })
})
