import { endTask } from '@belfry/db/tasks/change-task'
import { fromId } from '@belfry/domain/id'
import type { DueTask } from '@belfry/queue'
import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, lagsOf, setupIntake } from './setup-intake.ts'

const taskOf = ({ rawHeaders }: { rawHeaders: string[] }) => rawHeaders[rawHeaders.indexOf('webhook-id') + 1] ?? ''

describe.each(queueBackends())('tasks that share a job, with the queue on %s', backend => {
  let test: IntakeTest
  let target: Receiver
  beforeEach(async () => {
    target = await startReceiver()
    test = await setupIntake(backend, 5)
  })
  afterEach(async () => {
    await test?.close()
    await target?.close()
  })

  /** The beginning of a second that is some time ahead. */
  const secondAhead = (ms: number) => Math.ceil((Date.now() + ms) / 1000) * 1000

  it('start each at its own time, and not at all when cancelled before', async () => {
    const workspace = aWorkspace()
    const start = secondAhead(2_500)
    const stored: DueTask[] = []
    for (let i = 0; i < 10; i++) {
      const dueInMs = start + i * 90 - Date.now()
      stored.push(...(await test.store({ count: 2, workspace, url: target.url('/'), dueInMs })))
    }
    await test.schedule(stored)
    await test.start()
    await target.waitFor(1, 10_000)
    const gone = new Set<string>()
    for (const { id } of stored.filter((_, i) => i % 2 === 0).reverse()) {
      const { kind } = await endTask(test.pool, workspace, fromId('task', id) ?? '', 'cancel')
      if (kind === 'moved') gone.add(id)
    }
    expect(gone.size).toBeGreaterThan(0)
    await target.waitFor(20 - gone.size, 15_000)
    const dueAtOf = new Map(stored.map(({ id, dueAt }) => [id, dueAt]))
    for (const request of target.requests) {
      expect(gone).not.toContain(taskOf(request))
      expect(request.receivedAt).toBeGreaterThanOrEqual(dueAtOf.get(taskOf(request)) ?? Number.POSITIVE_INFINITY)
    }
    expect(new Set(target.requests.map(taskOf)).size).toBe(20 - gone.size)
  })

  it('do not wait for the slow target of one of them, and neither do later tasks', async () => {
    const workspace = aWorkspace()
    target.answer('/slow', { does: 'hang' })
    const slow = await test.store({ count: 1, workspace, url: target.url('/slow'), dueInMs: 0, timeoutMs: 60_000 })
    const others = await test.store({ count: 99, workspace, url: target.url('/'), dueInMs: 0 })
    await test.schedule([...slow, ...others])
    const stop = await test.start()
    await target.waitFor(100, 15_000)
    const next = await test.store({ count: 1, workspace, url: target.url('/next'), dueInMs: 0 })
    await test.schedule(next)
    await expect.poll(() => target.requestsTo('/next').length, { timeout: 10_000 }).toBe(1)
    await expect.poll(async () => (await lagsOf(test.pool, workspace)).length, { timeout: 10_000 }).toBe(100)
    await target.close()
    await stop()
  })

  it('are called by another dispatcher, except for those already called, when theirs stops', async () => {
    const workspace = aWorkspace()
    const start = secondAhead(2_000)
    const first = await test.store({ count: 5, workspace, url: target.url('/'), dueInMs: start - Date.now() })
    const rest = await test.store({ count: 395, workspace, url: target.url('/'), dueInMs: start + 900 - Date.now() })
    await test.schedule([...first, ...rest])
    const stop = await test.start()
    await target.waitFor(1, 10_000)
    await stop()
    expect(target.requests.length).toBeLessThan(400)
    await test.start()
    await target.waitFor(400, 10_000)
    expect(target.requests.map(taskOf).sort()).toEqual([...first, ...rest].map(({ id }) => id).sort())
  })

  it('are called once however often their job was added, alone or together', async () => {
    const workspace = aWorkspace()
    const stored = await test.store({ count: 150, workspace, url: target.url('/'), dueInMs: 1_500 })
    for (const size of [150, 100, 7, 1, 150]) {
      for (let i = 0; i < stored.length; i += size) await test.schedule(stored.slice(i, i + size))
    }
    await Promise.all([test.start(), test.start()])
    await target.waitFor(150, 15_000)
    const unfinished = `SELECT FROM tasks WHERE workspace_id = $1 AND state <> 'success'`
    await expect
      .poll(async () => (await test.pool.query(unfinished, [workspace])).rowCount, { timeout: 10_000 })
      .toBe(0)
    expect(target.requests.map(taskOf).sort()).toEqual(stored.map(({ id }) => id).sort())
  })
})
