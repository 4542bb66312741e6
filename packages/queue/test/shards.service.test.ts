import { randomBytes } from 'node:crypto'
import { queueBackends, testRedisUrl } from '@belfry/test-support'
import { Redis } from 'ioredis'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { consumeDispatchQueue } from '../src/consume-dispatch-queue.ts'
import { openDispatchQueue } from '../src/dispatch-queue.ts'
import type { DispatchQueue, QueueConnection } from '../src/index.ts'
import { shardPrefix } from '../src/shards.ts'

describe.each(queueBackends().filter(backend => backend === 'redis'))('a queue in shards on %s', () => {
  const prefix = `{test-${randomBytes(4).toString('hex')}}`
  const redis = new Redis(testRedisUrl() ?? '', { lazyConnect: true })
  const closing: Array<{ close(): Promise<void> }> = []
  afterEach(async () => {
    await Promise.all(closing.splice(0).map(part => part.close()))
    const keys = await redis.keys(`${prefix.slice(0, -1)}*`)
    if (keys.length > 0) await redis.del(...keys)
  })
  afterAll(() => redis.disconnect())

  const connectionOf = (shards: number): QueueConnection => ({
    redisUrl: testRedisUrl() ?? '',
    prefix,
    shards,
    onError: error => console.error(error),
  })
  function produce(shards: number): DispatchQueue {
    const queue = openDispatchQueue(connectionOf(shards))
    closing.push(queue)
    return queue
  }
  function consume(shards: number): string[] {
    const taken: string[] = []
    const take = async (tasks: Array<{ id: string }>) => void taken.push(...tasks.map(({ id }) => id))
    closing.push(consumeDispatchQueue(connectionOf(shards), { concurrency: 10, take }))
    return taken
  }
  /** Tasks with a job each, because their seconds differ. */
  const tasks = (count: number, name: string, now = Date.now()) =>
    Array.from({ length: count }, (_, i) => ({ id: `task_${name}${i}`, dueAt: now - i * 1000 }))
  const sizes = async (shards: number) => {
    const names = Array.from({ length: shards }, (_, shard) => `${shardPrefix(prefix, shard)}:dispatch:wait`)
    return Promise.all(names.map(name => redis.llen(name)))
  }
  const arrive = (taken: string[], expected: Array<{ id: string }>) =>
    expect.poll(() => [...taken].sort(), { timeout: 20_000 }).toEqual(expected.map(({ id }) => id).sort())

  it('spreads the jobs, refuses duplicates, and delivers each once', async () => {
    const queue = produce(4)
    const due = tasks(80, 'a')
    await queue.schedule(due, Date.now())
    await queue.schedule(due, Date.now())
    const waiting = await sizes(4)
    expect(waiting.reduce((sum, size) => sum + size)).toBe(80)
    expect(Math.min(...waiting)).toBeGreaterThan(5)
    expect(await queue.depth()).toEqual({ ready: 80, delayed: 0 })
    await arrive(consume(4), due)
    expect(await queue.depth()).toEqual({ ready: 0, delayed: 0 })
  })

  it('loses nothing when the number of shards goes from 1 to 4 to 2 while tasks wait', async () => {
    const waiting = [tasks(20, 'one'), tasks(40, 'four'), tasks(20, 'two')]
    for (const [i, shards] of [1, 4, 2].entries()) await produce(shards).schedule(waiting[i] ?? [], Date.now())
    await arrive(consume(2), waiting.flat())
    expect(await sizes(4)).toEqual([0, 0, 0, 0])
  })

  it('is emptied by a consumer with fewer shards, and with more', async () => {
    const [few, many] = [consume(1), consume(8)]
    const due = tasks(60, 'x')
    await produce(4).schedule(due, Date.now())
    await expect.poll(() => few.length + many.length, { timeout: 20_000 }).toBe(60)
    await closing.splice(1, 1)[0]?.close() // the consumer of all shards
    const later = tasks(60, 'y')
    await produce(4).schedule(later, Date.now())
    await expect.poll(() => later.every(({ id }) => few.includes(id)), { timeout: 20_000 }).toBe(true)
  })

  it('detects that a shard has lost its data', async () => {
    const queue = produce(3)
    await queue.writeMarker('now')
    expect(await queue.readMarker()).toBe('now')
    await redis.del(`${shardPrefix(prefix, 2)}:marker`)
    expect(await queue.readMarker()).toBeNull()
    expect(await produce(5).readMarker()).toBeNull() // the added shards have no marker
    expect(await produce(1).readMarker()).toBe('now')
  })
})
