import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { inTransaction } from '../src/postgres/in-transaction.ts'
import { changePendingTask, endTask } from '../src/tasks/change-task.ts'
import type { ClaimedTask } from '../src/tasks/claimed-row.ts'
import { endWithCallbacks } from '../src/tasks/drop-callbacks.ts'
import { endTasks } from '../src/tasks/end-tasks.ts'
import { expireTasks } from '../src/tasks/expire-tasks.ts'
import { insertTasks, type NewTask } from '../src/tasks/insert-tasks.ts'
import { loseAttempts } from '../src/tasks/lose-attempts.ts'
import { type FinishedAttempt, recordAttempts } from '../src/tasks/record-attempts.ts'
import { replayTask } from '../src/tasks/replay-task.ts'
import { undoClaims } from '../src/tasks/undo-claims.ts'
import { aTask, claimNew, claimOne, finished, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

const target = (path: string) => ({
  url: `https://example.com/${path}`,
  headers: { 'X-Own': path },
  retry: { max_retries: 7, backoff: 'linear', base_delay_ms: 2000, max_delay_ms: 9000 },
  timeout_ms: 4000,
})
const all = JSON.stringify({ on_success: target('won'), on_failure: target('lost'), on_attempt: target('tried') })

type Row = Record<string, unknown>
type Callback = {
  id: string
  url: string
  payload: { event: string; task: Row; request: Row; run: Row | null }
  text: string
}

async function callbacksOf(taskId: string): Promise<Callback[]> {
  const text =
    'SELECT id, url, payload FROM tasks JOIN task_requests ON task_id = id WHERE callback_of = $1 ORDER BY id'
  const { rows } = await db.pool.query<{ id: string; url: string; payload: string }>(text, [taskId])
  return rows.map(row => ({ ...row, payload: JSON.parse(row.payload), text: row.payload }))
}

const pathsOf = async (taskId: string) => (await callbacksOf(taskId)).map(({ url }) => new URL(url).pathname).sort()

const failure = {
  status: 'failed',
  responseStatus: 500,
  errorCode: 'http_status',
  errorMessage: 'Status 500.',
} as const
const again = { ...failure, state: 'retrying', retryDelayMs: 0 } as const
const dead = { ...failure, state: 'dead' } as const

/** Makes one attempt of a new task with every callback. */
async function attempt(outcome: Partial<FinishedAttempt> = {}, changes: Partial<NewTask> = {}): Promise<ClaimedTask> {
  const task = await claimNew(db.pool, { callbacks: all, ...changes })
  await recordAttempts(db.pool, [finished(task, outcome)])
  return task
}

describe('the callbacks of a task', () => {
  it('are stored with the record of an attempt', async () => {
    const won = await attempt()
    expect(await pathsOf(won.taskId)).toEqual(['/tried', '/won'])
    const retrying = await attempt(again)
    expect(await pathsOf(retrying.taskId)).toEqual(['/tried'])
    await recordAttempts(db.pool, [finished(await claimOne(db.pool, retrying.taskId), dead)])
    expect(await pathsOf(retrying.taskId)).toEqual(['/lost', '/tried', '/tried'])
  })

  it('are stored once when the record is repeated, and for many tasks in one statement', async () => {
    const tasks = await Promise.all(Array.from({ length: 40 }, () => claimNew(db.pool, { callbacks: all })))
    const attempts = tasks.map(task => finished(task))
    await recordAttempts(db.pool, attempts)
    await recordAttempts(db.pool, attempts)
    for (const { taskId } of tasks) expect(await pathsOf(taskId)).toEqual(['/tried', '/won'])
  })

  it('are tasks that are due at once, with their own request and retries', async () => {
    const { taskId, workspaceId } = await attempt(dead, { callbacks: JSON.stringify({ on_failure: target('lost') }) })
    const [callback] = await callbacksOf(taskId)
    expect(await taskRow(db.pool, callback?.id ?? '')).toMatchObject({
      ...{ workspace_id: workspaceId, source: 'callback', state: 'pending', attempts: 0, has_callbacks: false },
      ...{ name: 'on_failure of A task', method: 'POST', url: 'https://example.com/lost', headers: '{"X-Own":"lost"}' },
      ...{ max_retries: 7, backoff: 'linear', base_delay_ms: 2000, max_delay_ms: 9000, timeout_ms: 4000 },
    })
    expect((await claimOne(db.pool, callback?.id ?? '')).attempt).toBe(1)
  })

  it('have listed delays, too', async () => {
    const retry = { delays_ms: [0, 2_592_000_000] }
    const callbacks = JSON.stringify({ on_failure: { ...target('lost'), retry } })
    const { taskId } = await attempt(dead, { callbacks, maxRetries: 1, retryDelays: '[60000]' })
    const [callback] = await callbacksOf(taskId)
    expect(callback?.payload.request).toMatchObject({ retry_delays: '[60000]', callbacks })
    const claimed = await claimOne(db.pool, callback?.id ?? '')
    expect(claimed).toMatchObject({ maxRetries: 2, retryDelays: JSON.stringify(retry.delays_ms) })
    expect(claimed).toMatchObject({ backoff: 'exponential', baseDelayMs: 10_000, maxDelayMs: 3_600_000 })
  })

  it('hold the rows of the task, its request and its latest run, without what was sent', async () => {
    const { taskId, runId } = await attempt(again)
    const [callback] = await callbacksOf(taskId)
    expect((await taskRow(db.pool, callback?.id ?? '')).is_report).toBe(true)
    const { event, task, request, run } = callback?.payload ?? {}
    const row = await taskRow(db.pool, taskId)
    expect(event).toBe('on_attempt')
    expect(task).toMatchObject({ id: taskId, state: 'retrying', attempts: 1, lost: 0 })
    expect(new Date(String(task?.due_at))).toEqual(row.due_at)
    expect(request).toMatchObject({ task_id: taskId, payload: '{"n":12345678901234567890}', callbacks: all })
    expect(run).toMatchObject({
      id: runId,
      attempt: 1,
      status: 'failed',
      response_status: 500,
      response_body: '\\x6f6b',
    })
    expect(run).not.toHaveProperty('request_headers')
    expect(run).toHaveProperty('cron_job_timezone', null)
  })

  it('have no run when the task expires without an attempt', async () => {
    const task = aTask({ callbacks: all })
    await insertTasks(db.pool, [task])
    await db.pool.query(`UPDATE tasks SET expires_at = now() - interval '1 ms' WHERE id = $1`, [task.id])
    expect(await expireTasks(db.pool, { taskIds: [task.id] })).toHaveLength(1)
    const callbacks = await callbacksOf(task.id)
    expect(callbacks.map(({ url, payload }) => [url, payload.run])).toEqual([['https://example.com/lost', null]])
    expect(callbacks[0]?.payload.task).toMatchObject({ state: 'dead', state_reason: 'expired' })
  })

  it.each(['stopped', 'stopped with others', 'expired'])('report the latest run when a task is %s', async how => {
    const { taskId, runId, workspaceId } = await attempt(again)
    if (how === 'stopped') expect((await endTask(db.pool, workspaceId, taskId, 'stop')).kind).toBe('moved')
    if (how === 'stopped with others') {
      expect(await endTasks(db.pool, workspaceId, [taskId], 'stop')).toMatchObject({ ended: 1 })
    }
    if (how === 'expired') {
      await db.pool.query(`UPDATE tasks SET expires_at = now() - interval '1 ms' WHERE id = $1`, [taskId])
      expect(await expireTasks(db.pool, { taskIds: [taskId] })).toHaveLength(1)
    }
    const [, failed] = await callbacksOf(taskId)
    expect(failed?.url).toBe('https://example.com/lost')
    expect([failed?.payload.task.state_reason, failed?.payload.run?.id]).toEqual([
      how === 'expired' ? 'expired' : 'stopped',
      runId,
    ])
  })

  it('report a lost attempt, and its real outcome when that arrives', async () => {
    const task = await claimNew(db.pool, { callbacks: all })
    await loseAttempts(db.pool, [task], true)
    await recordAttempts(db.pool, [finished(task)])
    const reported = (await callbacksOf(task.taskId)).map(({ url, payload }) => [url, payload.run?.status])
    expect(reported.toSorted()).toEqual([
      ['https://example.com/tried', 'failed'],
      ['https://example.com/tried', 'success'],
      ['https://example.com/won', 'success'],
    ])
  })

  it('report a task that was lost too often', async () => {
    const task = await claimNew(db.pool, { callbacks: all })
    await db.pool.query('UPDATE tasks SET lost_alone = 2 WHERE id = $1', [task.taskId])
    await loseAttempts(db.pool, [task], true)
    expect(await pathsOf(task.taskId)).toEqual(['/lost', '/tried'])
  })

  it.each(['cancelled', 'undone'])('are not stored for a task that was %s', async end => {
    const task = await claimNew(db.pool, { callbacks: all })
    await undoClaims(db.pool, [{ ...task, delayMs: 0 }])
    if (end === 'cancelled') await db.pool.query(`UPDATE tasks SET state = 'cancelled' WHERE id = $1`, [task.taskId])
    expect(await pathsOf(task.taskId)).toEqual([])
  })

  it('are not stored for a later attempt that never started', async () => {
    const { taskId } = await attempt(again)
    await undoClaims(db.pool, [{ ...(await claimOne(db.pool, taskId)), delayMs: 0 }])
    expect(await pathsOf(taskId)).toEqual(['/tried'])
  })

  it('have none themselves', async () => {
    const { taskId } = await attempt()
    for (const { id } of await callbacksOf(taskId)) {
      await recordAttempts(db.pool, [finished(await claimOne(db.pool, id), dead)])
      expect(await pathsOf(id)).toEqual([])
    }
  })

  it('follow a replay, and a replayed callback stays a callback', async () => {
    const { taskId, workspaceId } = await attempt(dead)
    const replay = await replayTask(db.pool, workspaceId, taskId)
    const copy = await claimOne(db.pool, replay.kind === 'replayed' ? replay.id : '')
    await recordAttempts(db.pool, [finished(copy)])
    expect(await pathsOf(copy.taskId)).toEqual(['/tried', '/won'])
    const [callback] = await callbacksOf(taskId)
    await recordAttempts(db.pool, [finished(await claimOne(db.pool, callback?.id ?? ''))])
    await replayTask(db.pool, workspaceId, callback?.id ?? '')
    const callbacks = await callbacksOf(taskId)
    expect(callbacks).toHaveLength(3)
    const replayed = callbacks.find(({ id, text }) => id !== callback?.id && text === callback?.text)
    expect((await taskRow(db.pool, replayed?.id ?? '')).is_report).toBe(true)
  })

  it('have the payload of a change', async () => {
    const { taskId, workspaceId } = await attempt(again)
    const [callback] = await callbacksOf(taskId)
    await changePendingTask(db.pool, workspaceId, callback?.id ?? '', { payload: '{"mine":1}' })
    expect(await taskRow(db.pool, callback?.id ?? '')).toMatchObject({ payload: '{"mine":1}', is_report: null })
  })

  it('can be added to a pending task, and removed', async () => {
    const task = aTask({ executeAt: new Date(Date.now() + 3_600_000) })
    await insertTasks(db.pool, [task])
    const callbacks = JSON.stringify({ on_success: target('won') })
    await changePendingTask(db.pool, task.workspaceId, task.id, { callbacks })
    const added = await taskRow(db.pool, task.id)
    expect([added.has_callbacks, JSON.parse(added.callbacks)]).toEqual([true, { on_success: target('won') }])
    await changePendingTask(db.pool, task.workspaceId, task.id, { callbacks: '{"on_success":null}' })
    expect((await taskRow(db.pool, task.id)).callbacks).toBeNull()
  })

  it('count as storage', async () => {
    const { taskId, workspaceId } = await attempt({}, { workspaceId: randomUUID() })
    const text = 'SELECT sum(storage_bytes)::int AS bytes FROM usage_changes WHERE workspace_id = $1'
    const { rows } = await db.pool.query<{ bytes: number }>(text, [workspaceId])
    const payloads = (await callbacksOf(taskId)).map(callback => Buffer.byteLength(callback.text))
    const own = Buffer.byteLength(aTask().payload ?? '') + 'ok'.length
    expect(rows[0]?.bytes).toBe(payloads.reduce((sum, bytes) => sum + bytes, own))
  })
})

it('is as deep as its task, so a loop of calls cannot hide behind callbacks', async () => {
  const task = await claimNew(db.pool, { callbacks: all, depth: 3 })
  await recordAttempts(db.pool, [finished(task)])
  const [first] = await callbacksOf(task.taskId)
  expect((await taskRow(db.pool, first?.id ?? '')).depth).toBe(3)
})

it('are stored in parts when all of them take longer than a statement may', async () => {
  const tasks = Array.from({ length: 5 }, () => ({ taskId: randomUUID(), runId: null }))
  const ended = await inTransaction(db.pool, async tx => {
    await tx.query('SET LOCAL statement_timeout = 300')
    return endWithCallbacks(tx, tasks, async some => {
      await tx.query('SELECT pg_sleep($1)', [some.length > 2 ? 10 : 0])
      return some.map(({ taskId }) => ({ taskId }))
    })
  })
  expect(ended).toEqual(tasks.map(({ taskId }) => ({ taskId, refusal: null })))
})
