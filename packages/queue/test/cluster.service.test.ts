import { queueBackends, type RedisCluster, startRedisCluster } from '@belfry/test-support'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { consumeDispatchQueue } from '../src/consume-dispatch-queue.ts'
import { openDispatchQueue } from '../src/dispatch-queue.ts'
import type { QueueConnection } from '../src/index.ts'

const patience = { timeout: 25_000, interval: 50 }

describe.each(queueBackends().filter(backend => backend === 'redis'))('the queues on a cluster of %s', () => {
  let cluster: RedisCluster
  let connection: QueueConnection
  const closing: Array<{ close(): Promise<void> }> = []
  beforeAll(async () => {
    cluster = await startRedisCluster()
    connection = { redisUrl: cluster.url, shards: 6, onError: () => {} }
  })
  // A rejected call may have stored a part.
  beforeEach(() => Promise.all(cluster.ports.map((_, node) => cluster.ask(node, 'FLUSHALL'))))
  afterEach(() => Promise.all(closing.splice(0).map(part => part.close())))
  afterAll(() => cluster?.close())

  function open<T extends { close(): Promise<void> }>(part: T): T {
    closing.push(part)
    return part
  }
  function consume(): Set<string> {
    const taken = new Set<string>()
    const take = async (tasks: Array<{ id: string }>) => tasks.forEach(({ id }) => void taken.add(id))
    open(consumeDispatchQueue(connection, { concurrency: 10, take }))
    return taken
  }
  /** Tasks with a job each, because their seconds differ. */
  const tasks = (count: number, name: string, now = Date.now()) =>
    Array.from({ length: count }, (_, i) => ({ id: `task_${name}${i}`, dueAt: now - i * 1000 }))
  const ask = <T>(question: () => Promise<T>) => expect.poll(() => question().catch(String), patience)

  it('spreads the dispatch queue over every node, and delivers all tasks', async () => {
    const queue = open(openDispatchQueue(connection))
    const due = tasks(120, 'a')
    await queue.schedule(due, Date.now())
    const sizes = await Promise.all(cluster.ports.map((_, node) => cluster.ask(node, 'DBSIZE')))
    expect(Math.min(...sizes.map(Number))).toBeGreaterThan(10)
    expect(await queue.depth()).toEqual({ ready: 120, delayed: 0 })
    const taken = consume()
    await expect.poll(() => taken.size, patience).toBe(120)
    await queue.schedule([{ id: 'task_later', dueAt: Date.now() + 1000 }], Date.now())
    await expect.poll(() => taken.has('task_later'), patience).toBe(true)
  })

  it('serves the marker and the questions of operators', async () => {
    const queue = open(openDispatchQueue(connection))
    await queue.writeMarker('now')
    expect(await queue.readMarker()).toBe('now')
    await queue.ping()
    expect(await queue.findings()).toEqual([])
  })

  it('rejects while a node is away, and continues when it is back', async () => {
    const queue = open(openDispatchQueue(connection))
    const taken = consume()
    const before = tasks(60, 'before')
    await queue.schedule(before, Date.now())
    await expect.poll(() => before.every(({ id }) => taken.has(id)), patience).toBe(true)
    await cluster.kill(1)
    await ask(async () => queue.ping().then(() => 'well')).not.toBe('well')
    await expect(queue.schedule(tasks(60, 'during'), Date.now())).rejects.toThrow()
    await cluster.revive(1)
    const due = tasks(60, 'during')
    await ask(async () => queue.schedule(due, Date.now()).then(() => 'added')).toBe('added')
    await expect.poll(() => due.every(({ id }) => taken.has(id)), patience).toBe(true)
  }, 90_000)

  it('detects that one node came back without its data', async () => {
    const queue = open(openDispatchQueue(connection))
    await queue.writeMarker('now')
    await cluster.kill(2)
    await cluster.revive(2, { empty: true })
    await ask(() => queue.readMarker()).toBeNull()
    await ask(() => queue.writeMarker('then').then(() => queue.readMarker())).toBe('then')
  }, 90_000)

  it('closes while every node is away', async () => {
    const queue = openDispatchQueue(connection)
    const taken = consume()
    await queue.schedule(tasks(6, 'c'), Date.now())
    await expect.poll(() => taken.size, patience).toBe(6)
    await Promise.all(cluster.ports.map((_, node) => cluster.kill(node)))
    await ask(async () => queue.ping().then(() => 'well')).not.toBe('well')
    const since = performance.now()
    await Promise.all([queue, ...closing.splice(0)].map(part => part.close()))
    expect(performance.now() - since).toBeLessThan(10_000)
  })
})
