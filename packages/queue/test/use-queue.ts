import { randomBytes } from 'node:crypto'
import { testRedisUrl } from '@belfry/test-support'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { consumeDispatchQueue, type DispatchConsumer } from '../src/consume-dispatch-queue.ts'
import { openDispatchQueue } from '../src/dispatch-queue.ts'
import { type DispatchQueue, type DueTask, type QueueConnection, toleratedSkewMs } from '../src/index.ts'

/** Returns the id of a task that exists nowhere. */
export const newId = () => `task_${randomBytes(13).toString('hex')}`

export const reaches = (taken: unknown[], count: number) =>
  expect.poll(() => taken.length, { timeout: 20_000 }).toBe(count)

export const realNow = Date.now

/** Sets the clock of this machine wrong. PostgreSQL's clock stays right. */
export function setClock(skewMs: number): void {
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + skewMs)
}

/** Opens a queue with its own keys for each test, and closes it and its consumers afterwards. */
export function useQueue() {
  let connection: QueueConnection
  let queue: DispatchQueue
  const consumers: DispatchConsumer[] = []
  beforeEach(() => {
    connection = {
      redisUrl: testRedisUrl() ?? '',
      prefix: `{test-${randomBytes(4).toString('hex')}}`,
      onError: error => console.error(error),
    }
    queue = openDispatchQueue(connection)
  })
  afterEach(async () => {
    await Promise.all(consumers.splice(0).map(consumer => consumer.close()))
    await queue.close()
  })
  return {
    get connection() {
      return connection
    },
    get queue() {
      return queue
    },
    /** Consumes until stopped; `taken` holds the tasks with the time of their arrival. */
    consume(take?: (tasks: DueTask[], signal: AbortSignal) => Promise<void>) {
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
    },
    /** Takes this many tasks, and returns how late each is by the right clock, in milliseconds. */
    async takeAll(count: number): Promise<number[]> {
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
    },
  }
}
