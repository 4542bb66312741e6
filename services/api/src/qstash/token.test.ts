import type { Request } from 'express'
import { expect, it } from 'vitest'
import type { Context } from '../context.ts'
import { acceptToken } from './token.ts'

const ctx = { config: { firstAccount: null, qstash: null } } as Context

it.each([
  ['/v2/keys?qstash_token=bf_a%5Fb', 'bf_a_b', '/v2/keys'],
  ['/v2/publish/https://example.com/?a=1&qstash_token=x&b=%', 'x', '/v2/publish/https://example.com/?a=1&b=%'],
  ['/v2/keys?qstash_token=%', '%', '/v2/keys'],
  ['/v2/keys?qstash_token=', '', '/v2/keys'],
])('takes the token out of %s, also one with escapes that are not valid', async (originalUrl, token, rest) => {
  const request = { headers: {}, originalUrl } as Request
  await acceptToken(ctx, request)
  expect([request.headers['x-api-key'], request.originalUrl]).toEqual([token, rest])
})
