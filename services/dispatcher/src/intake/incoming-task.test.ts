import { expect, it } from 'vitest'
import { targetOf } from './incoming-task.ts'

it.each([
  ['https://example.com', 'example.com'],
  ['HTTPS://Example.COM:443', 'example.com'],
  ['http://example.com:80', 'example.com'],
  ['http://127.1:8080', '127.0.0.1:8080'],
  ['https://[::1]', '[::1]'],
  ['https://{{ secrets.HOST }}', 'https://{{ secrets.HOST }}'],
  ['//', '//'],
])('reads the host of %s as %s', (origin, host) => {
  expect(targetOf(origin)).toEqual({ origin, host })
})

it('returns the same object for an origin, and keeps a bounded number of them', () => {
  const first = targetOf('https://first.example')
  expect(targetOf('https://first.example')).toBe(first)
  for (let i = 0; i < 10_000; i++) targetOf(`https://${i}.example`)
  expect(targetOf('https://first.example')).not.toBe(first)
  expect(targetOf('https://first.example')).toEqual(first)
})
