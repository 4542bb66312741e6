import { expect, it } from 'vitest'
import { createFailedKeys } from './failed-keys.ts'

const hash = (i: number) => new Uint8Array([i])

it('refuses an address after a hundred wrong keys, lets it try once more each second, and others all the time', () => {
  let now = 0
  const failed = createFailedKeys(() => now)
  for (let i = 0; i < 100; i++) {
    failed.check('192.0.2.1')
    failed.add(hash(i), '192.0.2.1')
  }
  expect(() => failed.check('192.0.2.1')).toThrow(/too many/i)
  failed.check('192.0.2.2')
  now = 1_000
  failed.check('192.0.2.1')
  failed.add(hash(100), '192.0.2.1')
  expect(() => failed.check('192.0.2.1')).toThrow(/too many/i)
})

it('takes the addresses of one IPv6 network for one', () => {
  const failed = createFailedKeys(() => 0)
  for (let i = 0; i < 100; i++) failed.add(hash(i), `2001:db8::${i + 1}`)
  expect(() => failed.check('2001:db8::ffff')).toThrow(/too many/i)
  failed.check('2001:db8:0:1::1')
})

it('knows a wrong key again for a minute', () => {
  let now = 0
  const failed = createFailedKeys(() => now)
  failed.add(hash(1), '192.0.2.1')
  now = 59_999
  expect([failed.has(hash(1)), failed.has(hash(2))]).toEqual([true, false])
  now = 60_000
  expect(failed.has(hash(1))).toBe(false)
})
