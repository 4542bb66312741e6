import { randomBytes } from 'node:crypto'
import { createTestDatabase, queueBackends, testRedisUrl } from '@belfry/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { consumeOutboxQueue, openOutboxQueue } from '../src/index.ts'

describe.each(queueBackends())('the queue of the outbox on %s', backend => {
  it('wakes a dispatcher for what is announced, also for what was announced while there was none', async () => {
    const database = await createTestDatabase()
    const connection = {
      redisUrl: backend === 'redis' ? testRedisUrl() : null,
      databaseUrl: database.url,
      prefix: `{test-${randomBytes(4).toString('hex')}}`,
      onError: (error: Error) => console.error(error),
    }
    const queue = openOutboxQueue(connection)
    const messages = [1, 2].map(n => ({ message: `message-${n}`, label: 'invitation' }))
    await queue.announce(messages)
    let woken = 0
    const consumer = consumeOutboxQueue(connection, () => woken++)
    onTestFinished(async () => {
      await Promise.all([consumer.close(), queue.close()])
      await database.drop()
    })
    await expect.poll(() => woken, { timeout: 10_000 }).toBe(2)
    await queue.announce([{ message: 'message-3', label: 'alert task.dead' }])
    await expect.poll(() => woken, { timeout: 10_000 }).toBe(3)
  })
})
