import { setTimeout as sleep } from 'node:timers/promises'
import { queueBackends } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { useBelfry } from '../belfry.ts'
import { type QueueTarget, startQueueTarget } from './queue-target.ts'

const root = '/api/v1/scheduler'

describe.each(queueBackends())('queues on %s', backend => {
  const belfry = useBelfry(backend)
  const targets: QueueTarget[] = []
  afterAll(async () => {
    for (const target of targets) await target.close()
  })

  async function aTarget(...options: Parameters<typeof startQueueTarget>): Promise<QueueTarget> {
    const target = await startQueueTarget(...options)
    targets.push(target)
    return target
  }

  /** Schedules tasks of a queue for one time, in the order of their indexes. */
  async function schedule(target: QueueTarget, queue: unknown, count: number, more: object = {}, afterMs = 5_000) {
    const name = typeof queue === 'string' ? queue : (queue as { name: string }).name
    const at = Date.parse(inMs(afterMs))
    const tasks = Array.from({ length: count }, (_, i) => ({
      name: `${i}`,
      url: target.url(name, i),
      method: 'POST',
      execute_at: new Date(at + i).toISOString(),
      queue,
      ...more,
    }))
    const { status, body } = await belfry.call('POST', `${root}/tasks/batch`, { tasks })
    expect([status, body.data.filter((row: { error?: unknown }) => row.error)]).toEqual([200, []])
    return body.data.map((row: { task: { id: string } }) => row.task.id) as string[]
  }

  const succeeded = (target: QueueTarget, queue: string, count: number, timeoutMs = 40_000) =>
    waitFor(
      async () => target.succeeded(queue).length,
      found => found >= count,
      timeoutMs,
    )

  it.concurrent('lets no more calls of a queue than max_concurrent be in flight', async () => {
    const target = await aTarget(30)
    await schedule(target, { name: 'three', max_concurrent: 3 }, 60)
    await succeeded(target, 'three', 60)
    expect(target.maxInFlight('three')).toBe(3)
    expect(target.calls).toHaveLength(60)
    const { body } = await belfry.call('GET', `${root}/queues/three`)
    expect(body).toMatchObject({ max_concurrent: 3, waiting: 0, oldest_due_ms: null })
  }, 60_000)

  it.concurrent('starts no more calls within a period than the rate limit says', async () => {
    const target = await aTarget(5)
    await schedule(target, { name: 'rated', rate_limit: { count: 10, period_ms: 500 } }, 60)
    await succeeded(target, 'rated', 60)
    const windows = (times: number[]) => times.slice(10).map((at, i) => at - (times[i] ?? 0))
    // A claim counts as the start, by PostgreSQL's clock: exact. A run is recorded after its response.
    const claims = await waitFor(
      () =>
        belfry.execute(
          `SELECT extract(epoch FROM uuid_v7_time(u.id))::float8 * 1000 AS at
           FROM runs u JOIN task_requests r ON r.task_id = u.task_id WHERE r.url LIKE $1 ORDER BY u.id`,
          [target.url('rated', 0).replace(/0$/, '%')],
        ),
      found => found.length === 60,
    )
    expect(Math.round(Math.min(...windows(claims.map(({ at }) => Number(at)))))).toBeGreaterThanOrEqual(500)
  }, 60_000)

  it.concurrent('starts the tasks of an ordered queue in order, each after the retries of the one before', async () => {
    const failed = new Set<number>()
    const target = await aTarget(5, (_, index) => {
      if (index % 4 !== 1 || failed.has(index)) return 200
      failed.add(index)
      return 500
    })
    const retry = { backoff: 'fixed', base_delay_ms: 1_000, max_delay_ms: 1_000 }
    await schedule(target, { name: 'ordered', ordered: true }, 12, { retry })
    await succeeded(target, 'ordered', 12)
    expect(target.calls.map(({ index }) => index)).toEqual([0, 1, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 9, 10, 11])
    expect(target.maxInFlight('ordered')).toBe(1)
  }, 60_000)

  it.concurrent('lets nothing start while a queue is paused, and everything at once when it is resumed', async () => {
    const target = await aTarget(5)
    await belfry.call('PUT', `${root}/queues/paused`)
    expect((await belfry.call('POST', `${root}/queues/paused/pause`)).body.paused_at).not.toBeNull()
    const [first] = await schedule(target, 'paused', 20)
    const read = async () => (await belfry.call('GET', `${root}/queues/paused`)).body
    await waitFor(read, ({ waiting }) => waiting === 20)
    await sleep(1_000)
    expect(target.calls).toEqual([])
    const shown = async () => (await belfry.call('GET', `${root}/tasks/${first}`)).body.blocked
    expect(await waitFor(shown, one => one !== null)).toEqual({ reason: 'queue', queue: 'paused' })
    const resumedAt = performance.now()
    await belfry.call('POST', `${root}/queues/paused/resume`)
    await succeeded(target, 'paused', 20)
    expect((target.calls[0]?.startedAt ?? 0) - resumedAt).toBeLessThan(3_000)
  }, 60_000)

  it.concurrent('lets a task without a queue pass many blocked ones', async () => {
    const target = await aTarget(5)
    await belfry.call('PUT', `${root}/queues/full`)
    await belfry.call('POST', `${root}/queues/full/pause`)
    const batches = propertyRuns(3, 1)
    for (let i = 0; i < batches; i++) await schedule(target, 'full', 1_000, {}, 10_000)
    await schedule(target, 'free', 20, {}, 10_000)
    const free = await belfry.call('POST', '/api/events', {
      topic: 'a',
      payload: {},
      target_url: target.url('none', 0),
    })
    expect(free.status).toBe(202)
    await succeeded(target, 'none', 1)
    await succeeded(target, 'free', 20)
    const read = async () => (await belfry.call('GET', `${root}/queues/full`)).body
    expect(await waitFor(read, ({ waiting }) => waiting === batches * 1_000)).toMatchObject({ in_flight: 0 })
  }, 60_000)

  it.concurrent('takes the queue from a cron job and from a subscription', async () => {
    const target = await aTarget(5)
    const job = { name: 'J', url: target.url('jobs', 0), method: 'POST', cron: '0 0 1 1 *', queue: 'jobs' }
    const created = await belfry.call('POST', `${root}/cronjobs`, job)
    expect(created.body.queue).toBe('jobs')
    const triggered = await belfry.call('POST', `${root}/cronjobs/${created.body.id}/trigger`)
    expect(triggered.body.queue).toBe('jobs')
    const subscription = { topic: 'q.*', url: target.url('subs', 0), queue: { name: 'subs', max_concurrent: 1 } }
    expect((await belfry.call('POST', `${root}/subscriptions`, subscription)).body.queue).toBe('subs')
    const event = await belfry.call('POST', '/api/events', { topic: 'q.a', payload: {} })
    expect(event.body.tasks[0].queue).toBe('subs')
    await succeeded(target, 'jobs', 1)
    await succeeded(target, 'subs', 1)
  }, 60_000)
})
