import { describe, expect, it } from 'vitest'
import { createApiKeyCache, createRejectedKeys, forgetApiKeys } from './api-key.ts'

function testClock() {
  let time = 1
  return { now: () => time, pass: (ms: number) => (time += ms) }
}

describe('the cache of keys', () => {
  const ids = { keyId: 'a key', allowanceId: 'a key', workspaceId: 'a workspace', organizationId: 'an organization' }
  const aKey = {
    ...ids,
    tier: 'free',
    isSuspended: false,
    scopes: ['full'],
    allowedRanges: [],
    isUseStale: false,
  } as const

  it('holds a key for five seconds, and no longer', () => {
    const clock = testClock()
    const cache = createApiKeyCache(clock)
    expect(cache.get('a hash')).toBeUndefined()
    cache.set('a hash', aKey)
    clock.pass(5_000)
    expect(cache.get('a hash')).toBe(aKey)
    expect(cache.get('another hash')).toBeUndefined()
    clock.pass(1)
    expect(cache.get('a hash')).toBeUndefined()
  })

  it('holds a key that expires sooner no longer than that', () => {
    const clock = testClock()
    const cache = createApiKeyCache(clock)
    cache.set('a hash', aKey, { ttl: 100 })
    clock.pass(101)
    expect(cache.get('a hash')).toBeUndefined()
  })

  it('drops keys that were revoked', () => {
    const cache = createApiKeyCache()
    cache.set('one', aKey)
    cache.set('two', { ...aKey, keyId: 'another key' })
    forgetApiKeys(cache, ({ keyId }) => keyId === 'another key')
    expect(cache.get('one')).toBe(aKey)
    expect(cache.get('two')).toBeUndefined()
  })
})

describe('rejected keys', () => {
  it('let a key pass that was right within a day, until it is rejected itself', () => {
    const clock = testClock()
    const rejected = createRejectedKeys(clock)
    for (const key of ['right', 'revoked']) rejected.remember(key)
    for (let i = 0; i < 5_000; i++) rejected.add(`${i}`, '192.0.2.1')
    rejected.add('revoked', '192.0.2.1')
    rejected.check('right', '192.0.2.1')
    expect(() => rejected.check('revoked', '192.0.2.1')).toThrow(/too many/i)
    clock.pass(24 * 3_600_000)
    rejected.add('another', '192.0.2.1')
    for (let i = 0; i < 100; i++) rejected.add(`again ${i}`, '192.0.2.1')
    rejected.check('right', '192.0.2.1')
    clock.pass(1)
    expect(() => rejected.check('right', '192.0.2.1')).toThrow(/too many/i)
  })

  it('block an address after a hundred, let it send one more each second, and do not affect others', () => {
    const clock = testClock()
    const rejected = createRejectedKeys(clock)
    for (let i = 0; i < 100; i++) {
      rejected.check('a hash', '192.0.2.1')
      rejected.add(`${i}`, '192.0.2.1')
    }
    expect(() => rejected.check('a hash', '192.0.2.1')).toThrow(/too many/i)
    rejected.check('a hash', '192.0.2.2')
    clock.pass(1_000)
    rejected.check('a hash', '192.0.2.1')
    rejected.add('100', '192.0.2.1')
    expect(() => rejected.check('a hash', '192.0.2.1')).toThrow(/too many/i)
  })

  it('count one IPv6 network as one address', () => {
    const rejected = createRejectedKeys(testClock())
    for (let i = 0; i < 100; i++) rejected.add(`${i}`, `2001:db8::${i + 1}`)
    expect(() => rejected.check('a hash', '2001:db8::ffff')).toThrow(/too many/i)
    rejected.check('a hash', '2001:db8:0:1::1')
  })

  it('are known for a minute', () => {
    const clock = testClock()
    const rejected = createRejectedKeys(clock)
    rejected.add('1', '192.0.2.1')
    clock.pass(60_000)
    expect([rejected.has('1'), rejected.has('2')]).toEqual([true, false])
    clock.pass(1)
    expect(rejected.has('1')).toBe(false)
  })
})
