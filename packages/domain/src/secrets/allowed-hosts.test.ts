import { expect, it } from 'vitest'
import { isAllowedHost, readHostPattern } from './allowed-hosts.ts'

it.each([
  ['api.example.com', 'api.example.com'],
  [' API.Example.com ', 'api.example.com'],
  ['api.example.com:443', 'api.example.com:443'],
  ['api.example.com:08443', 'api.example.com:8443'],
  ['*.example.com', '*.example.com'],
  ['münchen.example', 'xn--mnchen-3ya.example'],
  ['10.1.2.3:8080', '10.1.2.3:8080'],
  ['[2001:DB8::1]', '[2001:db8::1]'],
])('reads the pattern %j as %j', (text, pattern) => {
  expect(readHostPattern(text)).toBe(pattern)
})

it.each([
  '',
  '*',
  '*.',
  '*.1.2.3.4',
  'a b',
  'https://a.example',
  'a.example/x',
  'a@b.example',
  'a.*.example',
  'a:x',
  '?',
])('refuses the pattern %j', text => {
  expect(readHostPattern(text)).toBeNull()
})

it.each([
  ['https://api.example.com/x', 'api.example.com', true],
  ['http://API.example.com.:8080/', 'api.example.com', true],
  ['https://api.example.com/', 'api.example.com:443', true],
  ['http://api.example.com/', 'api.example.com:443', false],
  ['https://a.api.example.com/', 'api.example.com', false],
  ['https://api.example.com.evil.example/', 'api.example.com', false],
  ['https://a.b.example.com/', '*.example.com', true],
  ['https://example.com/', '*.example.com', false],
  ['https://evilexample.com/', '*.example.com', false],
  ['https://a.example.com:8443/', '*.example.com:8443', true],
  ['https://[2001:db8::1]/', '[2001:db8::1]', true],
  ['https://[2001:db8::1]:8443/', '[2001:db8::1]:8443', true],
  ['not a url', 'api.example.com', false],
])('compares %j with the pattern %j: %j', (url, pattern, isAllowed) => {
  expect(isAllowedHost([String(readHostPattern(pattern))], url)).toBe(isAllowed)
})
