import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { enterDispatchers } from '../src/dispatchers/heartbeat.ts'
import { deleteTasks } from '../src/retention/expire-log.ts'
import { expireTasks } from '../src/tasks/expire-tasks.ts'
import { insertTasks, type NewTask } from '../src/tasks/insert-tasks.ts'
import { undoClaims } from '../src/tasks/undo-claims.ts'
import { claimTasks } from './claim-tasks.ts'
import { aTask, claimAll, claimant, claimNew, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()
const anHourMs = 3_600_000

/** Stores a task that is due, and lets its deadline pass. */
async function expired(changes: Partial<NewTask> = {}): Promise<string> {
  const task = aTask({ maxAgeMs: anHourMs, ...changes })
  await insertTasks(db.pool, [task])
  await passDeadline(task.id)
  return task.id
}

const passDeadline = (id: string) =>
  db.pool.query(`UPDATE tasks SET expires_at = clock_timestamp() - interval '1 millisecond' WHERE id = $1`, [id])

const failures = async (workspaceId: string) =>
  (await db.pool.query('SELECT sum(failed)::int AS n FROM usage_changes WHERE workspace_id = $1', [workspaceId]))
    .rows[0]

describe('a task with a deadline', () => {
  it('gets the deadline from its age', async () => {
    const executeAt = new Date(Date.now() + anHourMs)
    const task = aTask({ executeAt, maxAgeMs: 60_000 })
    await insertTasks(db.pool, [task, aTask()])
    expect((await taskRow(db.pool, task.id)).expires_at).toEqual(new Date(executeAt.getTime() + 60_000))
  })

  it('is claimed before the deadline', async () => {
    const task = await claimNew(db.pool, { maxAgeMs: anHourMs })
    expect(task.attempt).toBe(1)
  })

  it('is dead when it is claimed after the deadline, and no attempt starts', async () => {
    const id = await expired()
    expect(await claimAll(db.pool, [id])).toEqual([{ kind: 'gone', refusal: 'expired' }])
    expect(await taskRow(db.pool, id)).toMatchObject({
      state: 'dead',
      state_reason: 'expired',
      attempts: 0,
      run_id: null,
    })
  })

  it('is never claimed before a slot is free', async () => {
    const task = aTask({ maxAgeMs: anHourMs })
    await insertTasks(db.pool, [task])
    const request = { taskId: task.id, token: randomUUID(), isPrefetch: true }
    expect(await claimTasks(db.pool, claimant, [request])).toEqual([{ kind: 'not_prefetchable' }])
  })

  it('is expired by a claim in quarantine too', async () => {
    const id = await expired()
    await db.pool.query(`UPDATE tasks SET state = 'retrying', quarantined = true WHERE id = $1`, [id])
    const quarantine = { ...claimant, quarantine: true }
    await claimTasks(db.pool, quarantine, [{ taskId: id, token: randomUUID() }])
    expect(await taskRow(db.pool, id)).toMatchObject({ state: 'dead', state_reason: 'expired', quarantined: false })
  })
})

describe('expireTasks', () => {
  it('ends tasks whose deadline has passed, also when they are not due, and no others', async () => {
    const [due, retrying, later] = [await expired(), await expired(), aTask({ maxAgeMs: anHourMs })]
    await insertTasks(db.pool, [later])
    await db.pool.query(
      `UPDATE tasks SET state = 'retrying', attempts = 1, due_at = now() + interval '1 hour' WHERE id = $1`,
      [retrying],
    )
    const ids = (await expireTasks(db.pool, { limit: 100 })).map(({ taskId }) => taskId)
    expect(ids.toSorted()).toEqual([due, retrying].toSorted())
    expect((await taskRow(db.pool, later.id)).state).toBe('pending')
    expect((await taskRow(db.pool, retrying)).finished_at).not.toBeNull()
  })

  it('leaves an attempt in flight alone, and ends its task when the claim is undone', async () => {
    const { dispatcherId } = { dispatcherId: (await enterDispatchers(db.pool)).id }
    const task = aTask({ maxAgeMs: anHourMs })
    await insertTasks(db.pool, [task])
    const [claim] = await claimTasks(db.pool, { dispatcherId }, [{ taskId: task.id, token: randomUUID() }])
    if (claim?.kind !== 'claimed') throw new Error('The task was not claimed.')
    await passDeadline(task.id)
    expect(await expireTasks(db.pool, { limit: 100 })).toEqual([])
    await undoClaims(db.pool, [claim.task])
    expect(await expireTasks(db.pool, { limit: 100 })).toHaveLength(1)
  })

  it('counts a failed execution only for a task that was an execution', async () => {
    const [first, second] = [randomUUID(), randomUUID()]
    await expired({ workspaceId: first })
    const retrying = await expired({ workspaceId: second })
    await db.pool.query(`UPDATE tasks SET state = 'retrying', attempts = 1 WHERE id = $1`, [retrying])
    await expireTasks(db.pool, { limit: 100 })
    expect([await failures(first), await failures(second)]).toEqual([{ n: 0 }, { n: 1 }])
  })

  it('ends a task whose callbacks cannot be stored without them, and those beside it with theirs', async () => {
    const url = 'https://example.com/'
    const callbacks = JSON.stringify({ on_failure: { url, headers: {}, retry: { max_retries: 0 }, timeout_ms: 1000 } })
    const bad = await expired({ callbacks, qstash: String.raw`{"scheduleId":"\u0000"}` })
    const others = [await expired({ callbacks }), await expired({ callbacks, qstash: '{}' }), await expired()]
    const ended = await expireTasks(db.pool, { limit: 100 })
    expect(ended.map(({ taskId }) => taskId).toSorted()).toEqual([bad, ...others].toSorted())
    const refused = ended.filter(({ refusal }) => refusal !== null)
    expect(refused).toMatchObject([{ taskId: bad, refusal: expect.stringContaining('Unicode') }])
    expect(await taskRow(db.pool, bad)).toMatchObject({ state: 'dead', has_callbacks: false })
    const text = 'SELECT callback_of AS id FROM tasks WHERE callback_of = ANY ($1)'
    const called = (await db.pool.query<{ id: string }>(text, [[bad, ...others]])).rows.map(({ id }) => id)
    expect(called.toSorted()).toEqual(others.slice(0, 2).toSorted())
  })

  it('handles more than one batch', async () => {
    await insertTasks(
      db.pool,
      Array.from({ length: 7 }, () => aTask({ maxAgeMs: 1 })),
    )
    await db.pool.query('SELECT pg_sleep(0.01)')
    const counts = [3, 3, 3].map(limit => () => expireTasks(db.pool, { limit }))
    const found: number[] = []
    for (const expire of counts) found.push((await expire()).length)
    expect(found).toEqual([3, 3, 1])
  })
})

it('deletes tasks that expired without a run: settled ones with the log, others after a year', async () => {
  const workspaceId = randomUUID()
  const [settled, old, recent] = [newId(400), newId(400), newId(400)]
  await insertTasks(
    db.pool,
    [settled, old, recent].map(id => aTask({ id, workspaceId, maxAgeMs: 1, labels: ['a'] })),
  )
  await db.pool.query('SELECT pg_sleep(0.01)')
  await expireTasks(db.pool, { limit: 100 })
  await db.pool.query(`UPDATE tasks SET settled_at = now(), finished_at = now() - interval '8 days' WHERE id = $1`, [
    settled,
  ])
  await db.pool.query(`UPDATE tasks SET finished_at = now() - interval '366 days' WHERE id = $1`, [old])
  await db.pool.query(`UPDATE tasks SET finished_at = now() - interval '364 days' WHERE id = $1`, [recent])
  expect(await deleteTasks(db.pool, 'dead_without_run', workspaceId, 7, 100)).toBe(2)
  const labelled = await db.pool.query('SELECT task_id AS id FROM task_labels WHERE workspace_id = $1', [workspaceId])
  expect(labelled.rows).toEqual([{ id: recent }])
})

/** Returns the id of a task that was created so many days ago. */
function newId(days: number): string {
  const hex = (Date.now() - days * 86_400_000).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`
}
