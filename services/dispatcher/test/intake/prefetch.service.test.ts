import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, lagsOf, setupIntake } from './setup-intake.ts'

const [count, quick, places] = [1_000, 700, 8]

describe.each(queueBackends())('a dispatcher prefetches claims, with the queue on %s', backend => {
  const workspace = aWorkspace()
  let test: IntakeTest
  let target: Receiver
  let release: () => void
  beforeEach(async () => {
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    target = await startReceiver()
    test = await setupIntake(backend, 10)
    target.answer('/', [...Array.from({ length: quick }, () => ({ status: 200 })), { after: released }])
    const tasks = await test.store({ count, workspace, url: target.url('/'), dueInMs: 0, timeoutMs: 20_000 })
    await test.schedule(tasks)
  })
  afterEach(async () => {
    release()
    await test?.close()
    await target?.close()
  })

  async function states() {
    const text = `
      SELECT count(*) FILTER (WHERE state = 'processing')::int AS processing,
             count(*) FILTER (WHERE state IN ('pending', 'retrying') AND attempts = 0)::int AS waiting,
             count(*) FILTER (WHERE state = 'pending' AND updated_at > created_at)::int AS undone,
             (SELECT sum(executions)::int FROM usage) - (SELECT sum(unspent)::int FROM execution_blocks) AS executions
      FROM tasks WHERE workspace_id = $1`
    return (await test.pool.query(text, [workspace])).rows[0]
  }

  async function requireOneCallEach() {
    target.answer('/', { status: 200 })
    release()
    await expect.poll(async () => (await lagsOf(test.pool, workspace)).length, { timeout: 20_000 }).toBe(count)
    expect(target.requests).toHaveLength(count)
    expect(await states()).toMatchObject({ processing: 0, waiting: 0, executions: count })
  }

  it('and undoes them when no slot becomes free', async () => {
    await test.start({ HOST_CONCURRENCY: `${places}`, DISPATCH_CONCURRENCY: `${places * 2}` })
    await target.waitFor(quick + places - 1, 10_000)
    const isCalled = async () => (await states()).processing === target.requests.length - quick
    await expect.poll(isCalled, { timeout: 15_000, interval: 50 }).toBe(true)
    const called = target.requests.length
    expect(await states()).toMatchObject({ waiting: count - called })
    expect((await states()).undone).toBeGreaterThan(0)
    await requireOneCallEach()
  }, 40_000)

  it('but not of a task with a deadline, which is called when it is its turn', async () => {
    target.answer('/', { delayMs: 10 })
    const text = `
      WITH late AS (
        UPDATE tasks SET expires_at = now() + interval '1 hour'
        WHERE id = (SELECT id FROM tasks WHERE workspace_id = $1 ORDER BY id OFFSET 300 LIMIT 1) RETURNING id
      )
      UPDATE task_requests SET url = url || 'deadline' FROM late WHERE task_id = late.id`
    await test.pool.query(text, [workspace])
    await test.start({ HOST_CONCURRENCY: `${places}`, DISPATCH_CONCURRENCY: `${places * 2}` })
    await target.waitFor(count, 20_000)
    expect(target.requests.findIndex(({ path }) => path === '/deadline')).toBeLessThan(count / 2)
  }, 40_000)

  it('and undoes them when it stops', async () => {
    const stop = await test.start({ HOST_CONCURRENCY: `${places}`, DISPATCH_CONCURRENCY: `${places * 2}` })
    await target.waitFor(quick + places - 1, 10_000)
    const stopping = stop()
    release()
    await stopping
    const called = target.requests.length
    expect(await states()).toMatchObject({ processing: 0, waiting: count - called })
    expect((await states()).undone).toBeGreaterThan(0)
    await test.start()
    await requireOneCallEach()
  }, 40_000)
})
