import { randomUUID } from 'node:crypto'
import { testRedisUrl } from '@belfry/test-support'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onceInRedis } from '../src/index.ts'

const url = testRedisUrl()

describe.skipIf(url === null)('onceInRedis', () => {
  let redis: Redis
  beforeAll(() => {
    redis = new Redis(url ?? '')
  })
  afterAll(() => redis?.quit())

  const send = ([name, ...args]: [string, ...string[]]) => redis.call(name, ...args)

  it('runs the commands of the first of twenty requests at once, and expires the id', async () => {
    const id = `task_${randomUUID()}`
    const request = () => onceInRedis(send, id, [['INCRBY', `effects-${id}`, '42']], { expireDays: 2 })
    const were = await Promise.all(Array.from({ length: 20 }, request))
    expect(were.filter(Boolean)).toHaveLength(1)
    expect(await redis.get(`effects-${id}`)).toBe('42')
    expect(await redis.ttl(`received-webhook:${id}`)).toBeGreaterThan(2 * 86_400 - 60)
  })

  it('does not record the id when the command fails', async () => {
    const id = `task_${randomUUID()}`
    await redis.set(`effects-${id}`, 'text')
    const request = () => onceInRedis(send, id, [['INCRBY', `effects-${id}`, '1']])
    await expect(request()).rejects.toThrow('not an integer')
    await redis.set(`effects-${id}`, '1')
    expect([await request(), await request()]).toEqual([true, false])
    expect(await redis.get(`effects-${id}`)).toBe('2')
  })
})
