import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseMasterKeys } from './master-keys.ts'

const key = () => randomBytes(32).toString('base64')

describe('master keys', () => {
  it('are parsed in order: the first one encrypts, all of them decrypt', () => {
    const keys = parseMasterKeys(`new:${key()}, old_1:${key()}`)
    expect(keys.current.id).toBe('new')
    expect([...keys.all.keys()]).toEqual(['new', 'old_1'])
  })

  it.each([
    ['', 'list of id:key'],
    [key(), 'list of id:key'],
    [`a b:${key()}`, 'list of id:key'],
    [`:${key()}`, 'list of id:key'],
    [`k1:${key()},`, 'list of id:key'],
    ['k1:', 'k1'],
    ['k1:not base64 at all!', 'k1'],
    [`k1:${randomBytes(31).toString('base64')}`, 'k1'],
    [`k1:${randomBytes(33).toString('base64')}`, 'k1'],
    [`k1:${Buffer.alloc(32).toString('base64')}`, 'random'],
    [`k1:${key()},k1:${key()}`, 'two keys'],
  ])('are refused as %j, without showing them', (text, reason) => {
    expect(() => parseMasterKeys(text)).toThrow(reason)
    const [, value = ''] = text.split(':')
    if (value) expect(messageOf(() => parseMasterKeys(text))).not.toContain(value)
  })
})

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return String(error)
  }
  return ''
}
