import { createHash, randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { parseMasterKeys, readUnsubscribeToken, unsubscribeToken } from './index.ts'

const aKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
const [first, second] = [aKey('k1'), aKey('k2')]
const address = createHash('sha256').update('ada@example.com').digest()

it('a token names its address, also after a rotation of the master keys', () => {
  const token = unsubscribeToken(parseMasterKeys(first), address)
  expect(readUnsubscribeToken(parseMasterKeys(`${second},${first}`), token)).toEqual(address)
  expect(readUnsubscribeToken(parseMasterKeys(second), token)).toBeNull()
})

it('a changed token names no address', () => {
  const keys = parseMasterKeys(first)
  const bytes = Buffer.from(unsubscribeToken(keys, address), 'base64url')
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes)
    changed[i] = (changed[i] ?? 0) ^ 1
    expect(readUnsubscribeToken(keys, changed.toString('base64url'))).toBeNull()
  }
  for (const token of ['', 'x', 'x'.repeat(64), `${bytes.toString('base64url')}AA`])
    expect(readUnsubscribeToken(keys, token)).toBeNull()
})
