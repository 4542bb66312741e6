import { expect, it } from 'vitest'
import { hostOf } from './host-of.ts'

it.each([
  ['https://example.com', 'example.com'],
  ['HTTPS://Example.COM:443', 'example.com'],
  ['http://example.com:80', 'example.com'],
  ['http://127.1:8080', '127.0.0.1:8080'],
  ['https://[::1]', '[::1]'],
  ['https://{{ secrets.HOST }}', 'https://{{ secrets.HOST }}'],
  ['//', '//'],
])('of %s it is %s', (origin, host) => {
  expect(hostOf(origin)).toBe(host)
})
