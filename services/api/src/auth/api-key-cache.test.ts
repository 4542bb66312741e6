import { expect, it } from 'vitest'
import { createApiKeyCache } from './api-key-cache.ts'

it('remembers a key for five seconds, and no longer', () => {
  let now = 0
  const cache = createApiKeyCache(() => now)
  const key = { keyId: 'a key', workspaceId: 'a workspace', organizationId: 'an organization', tier: 'free' }
  const hash = new Uint8Array([1, 2, 3])
  expect(cache.get(hash)).toBeUndefined()
  cache.set(hash, key)
  now = 4_999
  expect(cache.get(new Uint8Array([1, 2, 3]))).toBe(key)
  expect(cache.get(new Uint8Array([1, 2, 4]))).toBeUndefined()
  now = 5_000
  expect(cache.get(hash)).toBeUndefined()
})
