import { expect, it } from 'vitest'
import { parseTrustedProxies } from './check-request.ts'

it.each([
  ['', false],
  ['2', 2],
  ['loopback, 10.1.2.3', ['loopback', '10.1.2.3']],
  ['10.0.0.0/8,fd00::/8', ['10.0.0.0/8', 'fd00::/8']],
])('reads %j', (text, trusted) => {
  expect(parseTrustedProxies(text)).toEqual(trusted)
})

it.each(['true', '0', '10', 'localhost', '10.0.0.1/8', 'loopback,,'])('refuses %j', text => {
  expect(() => parseTrustedProxies(text)).toThrow()
})
