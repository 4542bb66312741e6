import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { queueBackends, testRedisUrl } from '@belfry/test-support'
import { startRedis } from '@belfry/test-support/servers'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { consumeDispatchQueue, type DispatchConsumer } from '../src/consume-dispatch-queue.ts'
import { openDeadLetterQueue } from '../src/dead-letter-queue.ts'
import { openDispatchQueue } from '../src/dispatch-queue.ts'
import { type DispatchQueue, type DueTask, type QueueConnection, toleratedSkewMs } from '../src/index.ts'

const redisUrl = () => testRedisUrl() ?? ''

describe.each(queueBackends().filter(backend => backend === 'redis'))('the dispatch queue on %s', () => {
  let connection: QueueConnection
  let queue: DispatchQueue
  const consumers: DispatchConsumer[] = []

  beforeAll(() => {
    connection = {
      redisUrl: redisUrl(),
      prefix: `{test-${randomBytes(4).toString('hex')}}`,
      onError: error => console.error(error),
    }
    queue = openDispatchQueue(connection)
  })
  afterEach(() => Promise.all(consumers.splice(0).map(consumer => consumer.close())))
  afterAll(() => queue.close())

  /** Consumes until stopped; `taken` holds the tasks with the time of their arrival. */
  function consume(take?: (tasks: DueTask[], signal: AbortSignal) => Promise<void>) {
    const taken: Array<DueTask & { at: number }> = []
    const consumer = consumeDispatchQueue(connection, {
      concurrency: 10,
      async take(tasks, signal) {
        taken.push(...tasks.map(task => ({ ...task, at: Date.now() })))
        await take?.(tasks, signal)
      },
    })
    consumers.push(consumer)
    return { taken, consumer }
  }
  const newId = () => `task_${randomBytes(13).toString('hex')}`
  const reaches = (taken: unknown[], count: number) => expect.poll(() => taken.length, { timeout: 20_000 }).toBe(count)

  const realNow = Date.now
  /** Sets the clock of this machine wrong. PostgreSQL's clock stays right. */
  function setClock(skewMs: number): void {
    vi.spyOn(Date, 'now').mockImplementation(() => realNow() + skewMs)
  }

  describe.each([3_600_000, -3_600_000])('where a clock is wrong by %i ms', skewMs => {
    afterEach(() => void vi.restoreAllMocks())

    async function takeAll(count: number): Promise<number[]> {
      const lateness: number[] = []
      const consumer = consumeDispatchQueue(connection, {
        concurrency: 10,
        take: async tasks => void lateness.push(...tasks.map(({ dueAt }) => realNow() - dueAt)),
      })
      consumers.push(consumer)
      // As a dispatcher whose clock is behind does.
      const behind = setInterval(() => {
        if (realNow() - Date.now() > toleratedSkewMs) void queue.wakeDue(realNow())
      }, 100)
      await reaches(lateness, count).finally(() => clearInterval(behind))
      return lateness
    }

    it('delivers a task of a producer with that clock in time', async () => {
      await queue.ping()
      setClock(skewMs)
      const task = { id: newId(), dueAt: realNow() + 2_000 }
      await queue.schedule([task], realNow())
      vi.restoreAllMocks()
      const [lateness = 0] = await takeAll(1)
      expect(lateness).toBeGreaterThan(-400)
      expect(lateness).toBeLessThan(1_000)
    })

    it('delivers tasks to a consumer with that clock before they are late', async () => {
      await queue.ping()
      const count = 250
      const tasks = Array.from({ length: count }, (_, i) => ({ id: newId(), dueAt: realNow() + 1_500 + i }))
      for (const task of tasks) await queue.schedule([task], realNow())
      setClock(skewMs)
      // By the wrong clock they would be an hour early or late. The load of this machine causes shorter delays.
      expect(Math.max(...(await takeAll(count)))).toBeLessThan(10_000)
    })
  })

  it('delivers each task about 250 ms before its time, once however often it was added', async () => {
    await queue.ping() // BullMQ sets up its keys with the first use
    const now = Date.now()
    const soon = { id: newId(), dueAt: now + 3000 }
    const past = { id: newId(), dueAt: now - 60_000 }
    for (let i = 0; i < 3; i++) await queue.schedule([soon, past], Date.now())
    const { taken } = consume()
    await reaches(taken, 2)
    expect(taken.map(({ id, dueAt }) => ({ id, dueAt }))).toEqual([past, soon])
    const [, { at } = { at: 0 }] = taken
    expect(soon.dueAt - at).toBeLessThanOrEqual(260)
    expect(soon.dueAt - at).toBeGreaterThan(-500)
    await queue.schedule([past], Date.now())
    await reaches(taken, 3) // a finished job does not block a repair
  })

  it('takes a task with a new time as a new job', async () => {
    const id = newId()
    const now = Date.now()
    await queue.schedule([{ id, dueAt: now + 200 }], now)
    await queue.schedule([{ id, dueAt: now + 1500 }], now)
    const { taken } = consume()
    await reaches(taken, 2)
    expect(taken.map(({ dueAt }) => dueAt)).toEqual([now + 200, now + 1500])
  })

  it('requeues the jobs of a consumer that closes, and gives them to another at once', async () => {
    const id = newId()
    const first = consume((_tasks, signal) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await queue.schedule([{ id, dueAt: Date.now() }], Date.now())
    await reaches(first.taken, 1)
    await first.consumer.close()
    const second = consume()
    await reaches(second.taken, 1)
    expect(second.taken[0]?.id).toBe(id)
  })

  it('forgets a job whose handling failed, so a repair can add it again', async () => {
    const task = { id: newId(), dueAt: Date.now() }
    let failures = 0
    const { taken } = consume(async () => {
      if (failures++ === 0) throw new Error('broken')
    })
    await queue.schedule([task], Date.now())
    await reaches(taken, 1)
    await expect
      .poll(
        async () => {
          await queue.schedule([task], Date.now())
          return taken.length
        },
        { timeout: 10_000 },
      )
      .toBeGreaterThan(1)
  })

  it('keeps the marker until Redis loses its data', async () => {
    expect(await queue.readMarker()).toBeNull()
    await queue.writeMarker('one')
    expect(await queue.readMarker()).toBe('one')
  })

  it('takes thousands of tasks in one call', async () => {
    const now = Date.now()
    const tasks = Array.from({ length: 3000 }, () => ({ id: newId(), dueAt: now + 3_600_000 }))
    await queue.schedule(tasks, now)
    await queue.schedule(tasks, now)
    await queue.ping()
  })

  it('makes 10,000 due jobs available in one call, and the others in the next', { timeout: 120_000 }, async () => {
    const crowded = openDispatchQueue({ ...connection, prefix: `{test-${randomBytes(4).toString('hex')}}` })
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

  it('shows a dead letter once', async () => {
    const letters = openDeadLetterQueue(connection)
    const letter = { task: newId(), workspace: 'ws_1', attempts: 3, error: 'Status 500.' }
    await letters.add(letter)
    await letters.add(letter)
    await letters.close()
  })
})

describe.each(queueBackends().filter(backend => backend === 'redis'))('a producer whose %s is away', () => {
  it('fails at once instead of waiting', async () => {
    const errors: Error[] = []
    const queue = openDispatchQueue({
      redisUrl: 'redis://127.0.0.1:1',
      onError: error => errors.push(error),
    })
    const began = performance.now()
    await expect(queue.schedule([{ id: 'task_x', dueAt: 0 }], 0)).rejects.toThrow('not reachable')
    await expect(queue.ping()).rejects.toThrow()
    expect(performance.now() - began).toBeLessThan(1000)
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
