import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createCronJob, type NewCronJob } from '../src/cron-jobs/change-cron-job.ts'
import type { ClaimedTask } from '../src/tasks/claimed-row.ts'
import { expireTasks } from '../src/tasks/expire-tasks.ts'
import { insertTasks, type NewTask } from '../src/tasks/insert-tasks.ts'
import { type FinishedAttempt, recordAttempts } from '../src/tasks/record-attempts.ts'
import { undoClaims } from '../src/tasks/undo-claims.ts'
import { aTask, aWorkspace, claimNew, claimOne, finished, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

type Row = Record<string, unknown>
const callback = 'https://agent.example.com/'
const failure = { status: 'failed', responseStatus: 500, errorCode: 'http_status', errorMessage: 'No.' } as const
const again = { ...failure, state: 'retrying', retryDelayMs: 0 } as const
const dead = { ...failure, state: 'dead' } as const

async function subscribe(workspaceId: string, name: string, changes: Row = {}): Promise<string> {
  const id = randomUUID()
  const row: Row = {
    ...{ id, workspace_id: workspaceId, key: `mcp_${id}`, topic: `@${name}`, active: true, url: callback },
    ...{ headers: '{}', max_retries: 3, backoff: 'fixed', base_delay_ms: 1000, max_delay_ms: 1000, timeout_ms: 5000 },
    ...{ labels: [`mcp_${id}`], mcp: { name, arguments: {}, principal: null, match: {} } },
    ...changes,
  }
  const columns = Object.keys(row)
  await db.pool.query(
    `INSERT INTO subscriptions (${columns.join()}) VALUES (${columns.map((_, i) => `$${i + 1}`).join()})`,
    Object.values(row),
  )
  return id
}

const matching = (name: string, match: Row) => ({ mcp: { name, arguments: {}, principal: null, match } })

async function eventsOf(subscriptionId: string): Promise<Array<{ id: string; state: string; payload: Row }>> {
  const text = `
    SELECT id, state, payload::json AS payload FROM tasks JOIN task_requests ON task_id = id
    WHERE subscription_id = $1 ORDER BY id`
  return (await db.pool.query(text, [subscriptionId])).rows
}

async function attempt(outcome: Partial<FinishedAttempt>, changes: Partial<NewTask>): Promise<ClaimedTask> {
  const task = await claimNew(db.pool, changes)
  await recordAttempts(db.pool, [finished(task, outcome)])
  return task
}

it('stores an event of each failed attempt, and one of the death, in the statement that records them', async () => {
  const workspaceId = await aWorkspace(db.pool)
  const [ofDeath, ofRuns] = [await subscribe(workspaceId, 'task.dead'), await subscribe(workspaceId, 'run.failed')]
  const ofSubscription = { subscriptionId: randomUUID(), eventId: randomUUID(), topic: 'orders' } // that fails
  const task = await attempt(again, { workspaceId, maxRetries: 1, ...ofSubscription })
  expect([await eventsOf(ofDeath), (await eventsOf(ofRuns)).length]).toEqual([[], 1])
  await recordAttempts(db.pool, [finished(await claimOne(db.pool, task.taskId), dead)])
  const [event] = await eventsOf(ofDeath)
  expect((await eventsOf(ofRuns)).length).toBe(2)
  expect(await taskRow(db.pool, String(event?.id))).toMatchObject({
    ...{ workspace_id: workspaceId, source: 'callback', state: 'pending', callback_of: task.taskId, is_report: true },
    ...{ name: 'task.dead of A task', url: callback, max_retries: 3, labels: [`mcp_${ofDeath}`] },
  })
  expect(event?.payload).toMatchObject({
    ...{ mcp: 'task.dead', task: { id: task.taskId, state: 'dead' }, run: { response_status: 500 } },
    request: { name: 'A task', payload: null },
  })
  expect(event?.payload.run).not.toHaveProperty('response_body')
  const labelled = 'SELECT task_id AS id FROM task_labels WHERE label = $1'
  expect((await db.pool.query(labelled, [`mcp_${ofDeath}`])).rows).toEqual([{ id: event?.id }])
})

it('stores no event of a success, of a claim that was undone, or of a task that an event itself has', async () => {
  const workspaceId = await aWorkspace(db.pool)
  const ids = [await subscribe(workspaceId, 'task.dead'), await subscribe(workspaceId, 'run.failed')]
  await attempt({}, { workspaceId })
  await attempt(dead, { workspaceId, source: 'callback' })
  const called = { workspaceId, subscriptionId: randomUUID(), source: 'event' } as const
  await attempt(dead, called) // a gap, an end or a challenge
  await attempt(dead, { ...called, isReport: true }) // a reminder
  await attempt(dead, { ...called, isReport: true, eventId: randomUUID(), topic: 'orders' })
  await attempt(dead, { workspaceId: await aWorkspace(db.pool) })
  expect(await Promise.all(ids.map(eventsOf))).toEqual([[], []])
})

it('stores only the events that a live subscription has asked for', async () => {
  const workspaceId = await aWorkspace(db.pool)
  const task = aTask({ workspaceId, labels: ['customer:42', 'eu'] })
  const past = new Date(Date.now() - 1000)
  const chosen = await Promise.all([
    subscribe(workspaceId, 'task.dead', matching('task.dead', { id: task.id })),
    subscribe(workspaceId, 'task.dead', matching('task.dead', { labels: ['customer:42'] })),
    subscribe(workspaceId, 'task.dead', { expires_at: new Date(Date.now() + 60_000) }),
  ])
  const others = await Promise.all([
    subscribe(workspaceId, 'task.dead', matching('task.dead', { id: randomUUID() })),
    subscribe(workspaceId, 'task.dead', matching('task.dead', { labels: ['customer:4'] })),
    subscribe(workspaceId, 'task.dead', matching('task.dead', { cron_job_id: randomUUID() })),
    subscribe(workspaceId, 'task.dead', { expires_at: past }),
    subscribe(workspaceId, 'task.dead', { active: false }),
    subscribe(workspaceId, 'task.dead', { paused_reason: 'failing' }),
    subscribe(workspaceId, 'cron.missed'),
  ])
  await insertTasks(db.pool, [task])
  await recordAttempts(db.pool, [finished(await claimOne(db.pool, task.id), dead)])
  const counts = (ids: string[]) => Promise.all(ids.map(async id => (await eventsOf(id)).length))
  expect([await counts(chosen), await counts(others)]).toEqual([chosen.map(() => 1), others.map(() => 0)])
})

it('stores an event of a task that dies without an attempt', async () => {
  const workspaceId = await aWorkspace(db.pool)
  const id = await subscribe(workspaceId, 'task.dead')
  const task = aTask({ workspaceId, maxAgeMs: 1 })
  await insertTasks(db.pool, [task])
  await expect.poll(() => expireTasks(db.pool, { taskIds: [task.id] })).toHaveLength(1)
  expect((await eventsOf(id))[0]?.payload).toMatchObject({ task: { state_reason: 'expired' }, run: null })
})

function aReminder(workspaceId: string, subscriptionId: string, startsAt: Date | null = null): NewCronJob {
  const { url, method, headers, payload, maxRetries, backoff, baseDelayMs, maxDelayMs, timeoutMs } = aTask()
  return {
    ...{ id: randomUUID(), workspaceId, name: 'Reminder', cron: '* * * * *', timezone: 'UTC', subscriptionId },
    ...{ url, method, headers, payload, maxRetries, backoff, baseDelayMs, maxDelayMs, timeoutMs },
    ...{ startsAt, endsAt: null, overlap: 'allow', catchUp: 'none' },
  }
}

it.each(['is stored as missed', 'is cancelled as missed'])('stores an event of an occurrence that %s', async how => {
  const workspaceId = await aWorkspace(db.pool)
  const id = await subscribe(workspaceId, 'cron.missed')
  const task = aTask({ workspaceId, source: 'cron' })
  if (how === 'is cancelled as missed') await insertTasks(db.pool, [task])
  await db.pool.query(
    how === 'is cancelled as missed'
      ? `UPDATE tasks SET state = 'cancelled', state_reason = 'missed', finished_at = now() WHERE id = $1 AND workspace_id = $2`
      : `WITH requested AS (
           INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
           VALUES ($1, 'Nightly', 'https://example.com/', 'POST', 0, 'fixed', 1000, 1000, 5000)
         )
         INSERT INTO tasks (id, workspace_id, source, state, state_reason, execute_at, due_at, finished_at)
         VALUES ($1, $2, 'cron', 'cancelled', 'missed', now(), now(), now())`,
    [task.id, workspaceId],
  )
  expect((await eventsOf(id))[0]?.payload).toMatchObject({ mcp: 'cron.missed', task: { id: task.id } })
})

it('signs the occurrences of a reminder with the secret of its subscription, and ends with it', async () => {
  const workspaceId = await aWorkspace(db.pool)
  const id = await subscribe(workspaceId, 'reminder.due')
  const job = aReminder(workspaceId, id)
  await createCronJob(db.pool, job, 180_000)
  const claimed = await claimNew(db.pool, { workspaceId, subscriptionId: id, isReport: true })
  expect([claimed.isReport, claimed.subscriptionId]).toEqual([true, id])
  expect((await eventsOf(id)).filter(({ state }) => state === 'pending').length).toBeGreaterThan(1)
  await db.pool.query('DELETE FROM subscriptions WHERE id = $1', [id])
  const states = (await eventsOf(id)).filter(({ payload }) => payload.type === undefined).map(({ state }) => state)
  expect(new Set(states)).toEqual(new Set(['cancelled', 'processing']))
  expect((await db.pool.query('SELECT FROM cron_jobs WHERE id = $1', [job.id])).rowCount).toBe(0)
})

describe('a call that is in flight when its subscription is deleted', () => {
  it.each<[string, Partial<FinishedAttempt>, Row]>([
    ['is not retried', again, { state: 'cancelled', state_reason: 'subscription_deleted', attempts: 1 }],
    ['may succeed', {}, { state: 'success', state_reason: null }],
    ['may be its last', dead, { state: 'dead', state_reason: null }],
  ])('%s', async (_, outcome, end) => {
    const workspaceId = await aWorkspace(db.pool)
    const id = await subscribe(workspaceId, 'task.dead')
    const task = await claimNew(db.pool, { workspaceId, subscriptionId: id, isReport: true, source: 'event' })
    await db.pool.query('DELETE FROM subscriptions WHERE id = $1', [id])
    expect(await taskRow(db.pool, task.taskId)).toMatchObject({ state: 'processing' })
    await recordAttempts(db.pool, [finished(task, outcome)])
    expect(await taskRow(db.pool, task.taskId)).toMatchObject({ ...end, finished_at: expect.any(Date) })
  })

  it('is not started again when its claim is undone', async () => {
    const workspaceId = await aWorkspace(db.pool)
    const id = await subscribe(workspaceId, 'task.dead')
    const task = await claimNew(db.pool, { workspaceId, subscriptionId: id, isReport: true, source: 'event' })
    await db.pool.query('DELETE FROM subscriptions WHERE id = $1', [id])
    await undoClaims(db.pool, [task])
    expect(await taskRow(db.pool, task.taskId)).toMatchObject({ state: 'cancelled' })
  })
})

describe('the client of a subscription', () => {
  const controlsOf = async (id: string) => (await eventsOf(id)).filter(({ payload }) => payload.type !== undefined)

  it.each<[string, Row, number]>([
    ['is told its end', {}, 1],
    ['is not told the end that it has asked for', { active: false }, 0],
    ['is not told the end of its time', { expires_at: new Date(Date.now() - 1000) }, 0],
  ])('%s', async (_, changes, count) => {
    const workspaceId = await aWorkspace(db.pool)
    const id = await subscribe(workspaceId, 'task.dead', changes)
    await db.pool.query('DELETE FROM subscriptions WHERE id = $1', [id])
    const told = await controlsOf(id)
    expect(told.map(({ state, payload }) => [state, payload.type, Object(payload.error).code])).toEqual(
      Array(count).fill(['pending', 'terminated', -32012]),
    )
    for (const { id: taskId } of told) {
      const row = { is_report: null, subscription_id: id, url: callback, labels: [`mcp_${id}`], max_retries: 3 }
      expect(await taskRow(db.pool, taskId)).toMatchObject(row)
    }
  })

  it('is not told anything when its workspace is deleted', async () => {
    const workspaceId = await aWorkspace(db.pool)
    const id = await subscribe(workspaceId, 'task.dead')
    await db.pool.query('UPDATE workspaces SET deleted_at = now() WHERE id = $1', [workspaceId])
    await db.pool.query('DELETE FROM subscriptions WHERE id = $1', [id])
    expect(await controlsOf(id)).toEqual([])
  })

  it('is told once about the events that it has lost, but not after 410', async () => {
    const workspaceId = await aWorkspace(db.pool)
    const lost = await subscribe(workspaceId, 'task.dead')
    const gone = await subscribe(workspaceId, 'task.dead')
    const ofSubscription = { workspaceId, isReport: true, source: 'event' } as const
    const first = await attempt(dead, { ...ofSubscription, subscriptionId: lost })
    await attempt(dead, { ...ofSubscription, subscriptionId: lost })
    await attempt({ ...dead, responseStatus: 410 }, { ...ofSubscription, subscriptionId: gone })
    const told = await controlsOf(lost)
    expect(told.map(({ payload }) => payload)).toEqual([{ type: 'gap', cursor: first.taskId }])
    expect(await controlsOf(gone)).toEqual([])
    await recordAttempts(db.pool, [finished(await claimOne(db.pool, String(told[0]?.id)), dead)])
    await attempt(dead, { ...ofSubscription, subscriptionId: lost })
    expect(await controlsOf(lost)).toHaveLength(2)
  })
})

it('leaves what other subscriptions have published', async () => {
  const workspaceId = await aWorkspace(db.pool)
  const id = await subscribe(workspaceId, 'orders', { mcp: null, topic: 'orders' })
  await insertTasks(db.pool, [aTask({ workspaceId, subscriptionId: id })])
  await db.pool.query('DELETE FROM subscriptions WHERE id = $1', [id])
  expect((await eventsOf(id)).map(({ state }) => state)).toEqual(['pending'])
})
