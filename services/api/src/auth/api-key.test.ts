import { expect, it } from 'vitest'
import { createApiKeyText, hashApiKey, isApiKey } from './api-key.ts'

it('makes keys of the documented form, each with its checksum, prefix and hash', () => {
  const { key, prefix, hash } = createApiKeyText()
  expect(key).toMatch(/^bf_[0-9A-Za-z]{38}$/)
  expect(isApiKey(key)).toBe(true)
  expect(key.startsWith(prefix)).toBe(true)
  expect(hash).toEqual(hashApiKey(key))
  expect(createApiKeyText().key).not.toBe(key)
})

it('refuses a key with a typo anywhere, without a lookup', () => {
  const { key } = createApiKeyText()
  for (let i = 3; i < key.length; i++) {
    const other = key[i] === 'x' ? 'y' : 'x'
    expect(isApiKey(key.slice(0, i) + other + key.slice(i + 1))).toBe(false)
  }
  for (const text of ['', 'bf_', 'bf_short', `${key} `, key.slice(3), `xx_${key.slice(3)}`, `bf_${'a'.repeat(65)}`]) {
    expect(isApiKey(text)).toBe(false)
  }
})
