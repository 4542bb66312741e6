import { parseCidrs } from '@belfry/domain/address'
import { expect, it } from 'vitest'
import { readDestination } from './message-task.ts'

const ctx = { config: { allowedPrivateTargets: parseCidrs('127.0.0.0/8') } } as Parameters<typeof readDestination>[0]

it.each([
  ['https://example.com', 'https://example.com'],
  ['https://example.com//a//b?x=1&y=//z', 'https://example.com//a//b?x=1&y=//z'],
  ['https://example.com/%7Ea%2Fb', 'https://example.com/%7Ea%2Fb'],
  ['https:/example.com/a', 'https://example.com/a'],
  ['HTTP://example.com/', 'HTTP://example.com/'],
  ['https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc', 'https://example.com/a?b=c'],
  ['http://127.0.0.1:3000/a', 'http://127.0.0.1:3000/a'],
])('reads the URL %s', (sent, url) => {
  expect(readDestination(ctx, sent)).toEqual({ url })
})

it.each([
  ['my-group', 'my-group'],
  ['orders.paid', 'orders.paid'],
])('reads the URL group %s', (sent, group) => {
  expect(readDestination(ctx, sent)).toEqual({ group })
})

it.each([
  ['', /missing/],
  ['example.com/a', /neither/],
  ['ftp://example.com', /neither/],
  ['https://', /destination url/],
  ['https://user:pw@example.com', /user name/],
  ['http://10.0.0.1/', /private/],
  ['https://example.com:22/', /port 22/],
  ['https%3A%2F%2Fexample.com%', /escapes/],
  ['api/llm', /provider/],
])('refuses %s', (sent, reason) => {
  expect(() => readDestination(ctx, sent)).toThrow(reason)
})
