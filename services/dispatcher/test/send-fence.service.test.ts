import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { fromId, toId } from '@belfry/domain/id'
import { startConnectProxy, startReceiver } from '@belfry/test-support'
import { expect, it, onTestFinished } from 'vitest'
import { aWorkspace, type IntakeTest, setupIntake } from './intake/setup-intake.ts'

async function setup(): Promise<IntakeTest> {
  const test = await setupIntake('postgres', 0)
  onTestFinished(() => test.close())
  return test
}

// The process is frozen in the middle of a backlog, while each call opens a connection.
it('calls no task for the first time that was ended while the process was frozen', async () => {
  const test = await setup()
  const target = await aTargetInAThread()
  const workspace = aWorkspace()
  await test.store({ count: 3_000, workspace, url: target.url, dueInMs: -1_000 })
  await test.start({ DISPATCH_CONCURRENCY: '200', HOST_CONCURRENCY: '200' })
  await expect.poll(() => target.called.size, { timeout: 20_000, interval: 20 }).toBeGreaterThan(300)
  const ended = endAll(await test.pool.connect(), 10.3)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 11_500)
  const thawedAt = Date.now()
  await ended
  await sleep(1_500)
  const { rows } = await test.pool.query<{ id: string }>(`SELECT id FROM tasks WHERE state_reason = 'stopped'`)
  expect(rows.length).toBeGreaterThan(500)
  const isCalledLate = (id: string) => (target.called.get(toId('task', id)) ?? 0) >= thawedAt
  expect(rows.filter(({ id }) => isCalledLate(id))).toEqual([])
}, 60_000)

it('makes no call after the deadline of its task, however long its connection takes to open', async () => {
  const test = await setup()
  const [target, proxy] = [await startReceiver(), await startConnectProxy({ delayMs: 1_500 })]
  onTestFinished(() => target.close())
  onTestFinished(() => proxy.close())
  await test.start({ EGRESS_PROXY_URL: `http://127.0.0.1:${proxy.port}` })
  const stored = await test.store({ count: 2, workspace: aWorkspace(), url: target.url('/'), dueInMs: 60_000 })
  const ids = stored.map(({ id }) => fromId('task', id))
  // Due only now: a claim before this statement would know no deadline.
  const expire = `UPDATE tasks SET due_at = now(), expires_at = now() + CASE id WHEN $2 THEN 1 ELSE 30 END * interval '1 second'
                  WHERE id = ANY ($1)`
  await test.pool.query(expire, [ids, ids[0]])
  const states = async () => (await test.pool.query('SELECT state, attempts FROM tasks ORDER BY expires_at')).rows
  await expect
    .poll(states, { timeout: 15_000 })
    .toEqual([expect.objectContaining({ attempts: 0 }), { state: 'success', attempts: 1 }])
  expect(target.requests).toHaveLength(1)
}, 30_000)

/**
 * Ends the dispatcher after some seconds as a scheduler does, and stops its tasks as a user then does. A transaction of the
 * frozen process may hold some of them.
 */
async function endAll(
  client: { query(text: string): Promise<unknown>; release(destroy: boolean): void },
  seconds: number,
): Promise<void> {
  await client.query(`
    SET statement_timeout = 0;
    SELECT pg_sleep(${seconds});
    DELETE FROM dispatchers;
    UPDATE tasks SET state = 'dead', state_reason = 'stopped', finished_at = now(), lease_until = NULL,
                     dispatcher_id = NULL, prefetched = false
    WHERE id IN (SELECT id FROM tasks WHERE finished_at IS NULL FOR UPDATE SKIP LOCKED)`)
  client.release(true)
}

/** A target that continues while this thread is frozen. It closes each connection. */
async function aTargetInAThread() {
  const thread = new Worker(
    `const { parentPort } = require('node:worker_threads')
     const server = require('node:http').createServer((request, response) => {
       parentPort.postMessage({ id: request.headers['webhook-id'], at: Date.now() })
       response.setHeader('Connection', 'close')
       request.resume().on('end', () => setTimeout(() => response.end(), 20))
     })
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`,
    { eval: true },
  )
  onTestFinished(async () => void (await thread.terminate()))
  const [port] = await once(thread, 'message')
  const called = new Map<string, number>() // when each task was called first
  thread.on('message', ({ id, at }) => called.has(id) || called.set(id, at))
  return { url: `http://127.0.0.1:${port}/`, called }
}
