import { expect, it } from 'vitest'
import { createApiKeyCache } from './api-key-cache.ts'

const aKey = { keyId: 'a key', workspaceId: 'a workspace', organizationId: 'an organization', tier: 'free' } as const

it('remembers a key for five seconds, and no longer', () => {
  let now = 0
  const cache = createApiKeyCache(() => now)
  const hash = 'a hash'
  expect(cache.get(hash)).toBeUndefined()
  cache.set(hash, aKey)
  now = 4_999
  expect(cache.get('a hash')).toBe(aKey)
  expect(cache.get('another hash')).toBeUndefined()
  now = 5_000
  expect(cache.get(hash)).toBeUndefined()
})

it('remembers a key no longer than it is good for, and forgets one that was revoked', () => {
  let now = 0
  const cache = createApiKeyCache(() => now)
  const [first, second] = ['one', 'two']
  cache.set(first, aKey, 100)
  cache.set(second, { ...aKey, keyId: 'another key' })
  now = 100
  expect(cache.get(first)).toBeUndefined()
  expect(cache.get(second)).toBeDefined()
  cache.forget(({ keyId }) => keyId === 'another key')
  expect(cache.get(second)).toBeUndefined()
})
