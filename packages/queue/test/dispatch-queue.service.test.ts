import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { queueBackends, testRedisUrl } from '@belfry/test-support'
import { startAwakeTime } from '@belfry/test-support/awake-time'
import { startRedis } from '@belfry/test-support/servers'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openDispatchQueue } from '../src/dispatch-queue.ts'
import { newId, reaches, realNow, setClock, useQueue } from './use-queue.ts'

const redisUrl = () => testRedisUrl() ?? ''

describe.each(queueBackends().filter(backend => backend === 'redis'))('the dispatch queue on %s', () => {
  const test = useQueue()

  describe.each([3_600_000, -3_600_000])('where a clock is wrong by %i ms', skewMs => {
    afterEach(() => void vi.restoreAllMocks())

    it('delivers tasks to a consumer with that clock before they are late', async () => {
      await test.queue.ping()
      const count = 250
      const tasks = Array.from({ length: count }, (_, i) => ({ id: newId(), dueAt: realNow() + 1_500 + i }))
      for (const task of tasks) await test.queue.schedule([task], realNow())
      setClock(skewMs)
      // By the wrong clock they would be an hour early or late. The load of this machine causes shorter delays.
      expect(Math.max(...(await test.takeAll(count)))).toBeLessThan(10_000)
    })
  })

  it('takes a task with a new time as a new job', async () => {
    const id = newId()
    const now = Date.now()
    await test.queue.schedule([{ id, dueAt: now + 200 }], now)
    await test.queue.schedule([{ id, dueAt: now + 1500 }], now)
    const { taken } = test.consume()
    await reaches(taken, 2)
    expect(taken.map(({ dueAt }) => dueAt)).toEqual([now + 200, now + 1500])
  })

  it('requeues the jobs of a consumer that closes, and gives them to another at once', async () => {
    const id = newId()
    const first = test.consume((_tasks, signal) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await test.queue.schedule([{ id, dueAt: Date.now() }], Date.now())
    await reaches(first.taken, 1)
    await first.consumer.close()
    const second = test.consume()
    await reaches(second.taken, 1)
    expect(second.taken[0]?.id).toBe(id)
  })

  it('forgets a job whose handling failed, so a repair can add it again', async () => {
    const task = { id: newId(), dueAt: Date.now() }
    let failures = 0
    const { taken } = test.consume(async () => {
      if (failures++ === 0) throw new Error('broken')
    })
    await test.queue.schedule([task], Date.now())
    await reaches(taken, 1)
    await expect
      .poll(
        async () => {
          await test.queue.schedule([task], Date.now())
          return taken.length
        },
        { timeout: 10_000 },
      )
      .toBeGreaterThan(1)
  })

  it('keeps the marker until Redis loses its data', async () => {
    expect(await test.queue.readMarker()).toBeNull()
    await test.queue.writeMarker('one')
    expect(await test.queue.readMarker()).toBe('one')
  })

  it('takes thousands of tasks in one call', async () => {
    const now = Date.now()
    const tasks = Array.from({ length: 3000 }, () => ({ id: newId(), dueAt: now + 3_600_000 }))
    await test.queue.schedule(tasks, now)
    await test.queue.schedule(tasks, now)
    await test.queue.ping()
  })

  it('makes 10,000 due jobs available in one call, and the others in the next', { timeout: 120_000 }, async () => {
    const crowded = openDispatchQueue({ ...test.connection, prefix: `{test-${randomBytes(4).toString('hex')}}` })
    const now = Date.now()
    // One per second, so each has a job of its own.
    const tasks = Array.from({ length: 10_050 }, (_, i) => ({ id: newId(), dueAt: now + i * 1_000 + 60_000 }))
    for (let i = 0; i < tasks.length; i += 1_000) await crowded.schedule(tasks.slice(i, i + 1_000), now)
    expect(await crowded.depth()).toEqual({ ready: 0, delayed: 10_050 })
    const afterAll = now + 10_110 * 1_000
    expect(await crowded.wakeDue(afterAll)).toBe(10_000)
    expect(await crowded.depth()).toEqual({ ready: 10_000, delayed: 50 })
    expect(await crowded.wakeDue(afterAll)).toBe(50)
    expect(await crowded.depth()).toEqual({ ready: 10_050, delayed: 0 })
    await crowded.close()
  })
})

describe.each(queueBackends().filter(backend => backend === 'redis'))('a producer whose %s is away', () => {
  it('fails at once instead of waiting', async () => {
    const errors: Error[] = []
    const queue = openDispatchQueue({
      redisUrl: 'redis://127.0.0.1:1',
      onError: error => errors.push(error),
    })
    const awakeMs = startAwakeTime()
    await expect(queue.schedule([{ id: 'task_x', dueAt: 0 }], 0)).rejects.toThrow('not reachable')
    await expect(queue.ping()).rejects.toThrow()
    expect(awakeMs()).toBeLessThan(1000)
    await queue.close()
  })

  it('reports a Redis that answers but accepts no writes as away', async () => {
    const redis = await startRedis({ dataDir: mkdtempSync(join(tmpdir(), 'belfry-full-')), persist: false })
    const queue = openDispatchQueue({ redisUrl: redis.url, onError: () => {} })
    const client = new Redis(redis.url)
    try {
      await expect
        .poll(
          () =>
            queue.ping().then(
              () => 'up',
              () => 'away',
            ),
          { timeout: 10_000 },
        )
        .toBe('up')
      await client.config('SET', 'maxmemory', '1')
      expect(await client.ping()).toBe('PONG')
      await expect(queue.ping()).rejects.toThrow('OOM')
    } finally {
      client.disconnect()
      await queue.close()
      await redis.stop()
    }
  }, 30_000)

  it('reports that Redis has no persistence', async () => {
    const redis = new Redis(redisUrl())
    await redis.ping()
    redis.disconnect()
    const queue = openDispatchQueue({
      redisUrl: redisUrl(),
      onError: () => {},
    })
    await expect
      .poll(() =>
        queue.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    expect(await queue.findings()).toEqual([expect.stringContaining('AOF is off')])
    await queue.close()
  })
})
