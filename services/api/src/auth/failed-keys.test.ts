import { expect, it } from 'vitest'
import { createFailedKeys } from './failed-keys.ts'

it('refuses an address after a hundred wrong keys, lets it try once more each second, and others all the time', () => {
  let now = 0
  const failed = createFailedKeys(() => now)
  for (let i = 0; i < 100; i++) {
    failed.check('192.0.2.1')
    failed.count('192.0.2.1')
  }
  expect(() => failed.check('192.0.2.1')).toThrow(/too many/i)
  failed.check('192.0.2.2')
  now = 1_000
  failed.check('192.0.2.1')
  failed.count('192.0.2.1')
  expect(() => failed.check('192.0.2.1')).toThrow(/too many/i)
})

it('takes the addresses of one IPv6 network for one', () => {
  const failed = createFailedKeys(() => 0)
  for (let i = 0; i < 100; i++) failed.count(`2001:db8::${i + 1}`)
  expect(() => failed.check('2001:db8::ffff')).toThrow(/too many/i)
  failed.check('2001:db8:0:1::1')
})
