import { randomUUID } from 'node:crypto'
import { cancelBulkOperation, findBulkOperation, startBulkOperation } from '@belfry/db/bulk-operations/bulk-operations'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { stepBulkOperations } from '../src/step-bulk-operations.ts'
import { openTestQueue, storeWorkspace } from './setup.ts'

const never = new AbortController().signal
const all = { action: 'replay', filter: {}, perSecond: null } as const

let test: Awaited<ReturnType<typeof openTestQueue>>
beforeEach(async () => {
  test = await openTestQueue()
})
afterEach(() => test.ctx.close())

async function storeDeadLetters(workspaceId: string, count: number): Promise<void> {
  const { pool } = test.ctx
  await pool.query(
    `WITH stored AS (
       INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
       SELECT gen_random_uuid(), $1, 'task', 'dead', now(), now(), now() FROM generate_series(1, $2)
       RETURNING id
     )
     INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT id, 'A', 'https://example.com/', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM stored`,
    [workspaceId, count],
  )
}

const count = async (condition: string) =>
  (await test.ctx.pool.query(`SELECT count(*)::int AS n FROM tasks WHERE ${condition}`)).rows[0].n

/** Returns a signal that stops the chore after its first step, before which the chore looks at the signal once. */
function afterOneStep(): AbortSignal {
  let looks = 0
  return Object.defineProperty(new AbortController().signal, 'aborted', { get: () => looks++ > 0 })
}

it('replays every dead letter once, however often it is interrupted and however many schedulers share it', async () => {
  const workspaceId = await storeWorkspace(test.ctx)
  await storeDeadLetters(workspaceId, 2600)
  const { id, total } = await startBulkOperation(test.ctx.pool, workspaceId, all)
  expect(total).toBe(2600)
  expect(await stepBulkOperations(test.ctx, afterOneStep())).toBe(500)
  await Promise.all([1, 2, 3].map(() => stepBulkOperations(test.ctx, never)))
  const operation = await findBulkOperation(test.ctx.pool, workspaceId, id)
  expect(operation).toMatchObject({ total: 2600, done: 2600, cancelled: false, finishedAt: expect.any(Date) })
  expect(await count('replay_of IS NOT NULL')).toBe(2600)
  expect(await count(`state = 'dead' AND settled_at IS NULL`)).toBe(0)
})

it('spreads replays over time, over all its steps, also after it was interrupted', async () => {
  const { pool } = test.ctx
  const workspaceId = await storeWorkspace(test.ctx)
  await storeDeadLetters(workspaceId, 1_300)
  const { id } = await startBulkOperation(pool, workspaceId, { ...all, perSecond: 100 })
  await stepBulkOperations(test.ctx, afterOneStep())
  // As if no scheduler ran for a while. The later replays must not catch up.
  const later = new Date(Date.now() + 60_000)
  await pool.query('UPDATE bulk_operations SET next_due_at = $1', [later])
  expect(await stepBulkOperations(test.ctx, never)).toBe(800)
  expect(await findBulkOperation(pool, workspaceId, id)).toMatchObject({ perSecond: 100, done: 1_300 })
  const { rows } = await pool.query('SELECT due_at, execute_at FROM tasks WHERE replay_of IS NOT NULL ORDER BY due_at')
  const times = rows.map(row => row.due_at.getTime())
  expect(rows.every(row => row.execute_at.getTime() === row.due_at.getTime())).toBe(true)
  expect((times[499] ?? 0) - (times[0] ?? 0)).toBe(4_990)
  expect(times[500]).toBe(later.getTime())
  expect((times[1_299] ?? 0) - later.getTime()).toBe(7_990)
})

it('leaves tasks that died after it began: they may be its own replays', async () => {
  const workspaceId = await storeWorkspace(test.ctx)
  await storeDeadLetters(workspaceId, 10)
  await startBulkOperation(test.ctx.pool, workspaceId, all)
  await storeDeadLetters(workspaceId, 5)
  const died = `UPDATE tasks SET finished_at = o.created_at + interval '1 ms' FROM bulk_operations o
    WHERE tasks.id IN (SELECT id FROM tasks ORDER BY created_at DESC LIMIT 5)`
  await test.ctx.pool.query(died)
  expect(await stepBulkOperations(test.ctx, never)).toBe(10)
  expect(await count(`state = 'dead' AND settled_at IS NULL`)).toBe(5)
})

it('settles the matching dead letters, in its own workspace only', async () => {
  const [mine, other] = [await storeWorkspace(test.ctx), await storeWorkspace(test.ctx)]
  for (const workspaceId of [mine, other]) await storeDeadLetters(workspaceId, 1200)
  const cronJobId = randomUUID()
  await test.ctx.pool.query(
    'UPDATE tasks SET cron_job_id = $1 WHERE id IN (SELECT id FROM tasks WHERE workspace_id = $2 LIMIT 700)',
    [cronJobId, mine],
  )
  await startBulkOperation(test.ctx.pool, mine, { ...all, action: 'discard', filter: { cronjob_id: [cronJobId] } })
  expect(await stepBulkOperations(test.ctx, never)).toBe(700)
  expect(await count(`settled_at IS NOT NULL AND workspace_id = '${mine}'`)).toBe(700)
  expect(await count(`settled_at IS NOT NULL AND workspace_id = '${other}'`)).toBe(0)
})

it('settles those of a host, an error and a name only', async () => {
  const workspaceId = await storeWorkspace(test.ctx)
  await storeDeadLetters(workspaceId, 1200)
  await test.ctx.pool.query(
    `UPDATE task_requests SET name = 'Invoice 7', url = 'https://API.example.com:8443/a'
     WHERE task_id IN (SELECT id FROM tasks WHERE workspace_id = $1 LIMIT 700)`,
    [workspaceId],
  )
  await test.ctx.pool.query(
    `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, error_code)
     SELECT (substr(uuid_v7_floor(now())::text, 1, 13) || '-7000-a000-' || lpad(to_hex(n), 12, '0'))::uuid, workspace_id, id,
            1, 'task', 'failed', now(), now(), now(), 'timeout'
     FROM (
       SELECT t.workspace_id, t.id, row_number() OVER ()::int AS n FROM tasks t JOIN task_requests r ON r.task_id = t.id
       WHERE r.name = 'Invoice 7' LIMIT 600
     ) failed`,
  )
  const filter = { name: 'Inv', host: ['other', 'api.example.com:8443'], error: ['dns', 'timeout'] }
  const { id, total } = await startBulkOperation(test.ctx.pool, workspaceId, { ...all, action: 'discard', filter })
  expect(total).toBe(600)
  expect(await findBulkOperation(test.ctx.pool, workspaceId, id)).toMatchObject({ filter })
  expect(await stepBulkOperations(test.ctx, never)).toBe(600)
  expect(await count('settled_at IS NOT NULL')).toBe(600)
})

it('settles nothing more after it is cancelled', async () => {
  const workspaceId = await storeWorkspace(test.ctx)
  await storeDeadLetters(workspaceId, 1200)
  const { id } = await startBulkOperation(test.ctx.pool, workspaceId, all)
  await stepBulkOperations(test.ctx, afterOneStep())
  expect(await cancelBulkOperation(test.ctx.pool, workspaceId, id)).toMatchObject({ cancelled: true })
  expect(await stepBulkOperations(test.ctx, never)).toBe(0)
  expect(await count('replay_of IS NOT NULL')).toBe(500)
  expect(await cancelBulkOperation(test.ctx.pool, workspaceId, id)).toBeUndefined()
})

it('continues with the other operations when one fails, and reports that', async () => {
  const { pool } = test.ctx
  const [failing, other] = [await storeWorkspace(test.ctx), await storeWorkspace(test.ctx)]
  for (const workspaceId of [failing, other]) await storeDeadLetters(workspaceId, 3)
  const { id } = await startBulkOperation(pool, failing, all)
  await pool.query(`UPDATE bulk_operations SET filter = '{"ids":["unreadable"]}'`)
  const { id: otherId } = await startBulkOperation(pool, other, all)
  await expect(stepBulkOperations(test.ctx, never)).rejects.toThrow('unreadable')
  expect(await findBulkOperation(pool, failing, id)).toMatchObject({ done: 0, finishedAt: null })
  expect(await findBulkOperation(pool, other, otherId)).toMatchObject({ done: 3, finishedAt: expect.any(Date) })
})
