import { deflateSync, gzipSync } from 'node:zlib'
import { createRedactor } from '@belfry/domain/secrets/redact'
import { expect, it } from 'vitest'
import type { ResponseOutcome } from '../egress/outcome.ts'
import { redactOutcome } from './redact-outcome.ts'

const value = 'a secret value'
const redactor = createRedactor([{ name: 'S', value }])
const response = (body: Buffer): ResponseOutcome => ({
  kind: 'response',
  status: 200,
  headers: { 'x-echo': value, 'x-both': [value, 'other'] },
  body,
  bodyBytes: body.length,
  bodyTruncated: false,
  note: null,
  timings: null,
})

it('hides a secret in the headers and the body of a response', async () => {
  expect(await redactOutcome(response(Buffer.from(`<${value}>`)), redactor)).toMatchObject({
    headers: { 'x-echo': '{{ secrets.S }}', 'x-both': ['{{ secrets.S }}', 'other'] },
    body: Buffer.from('<{{ secrets.S }}>'),
    bodyTruncated: false,
  })
})

it.each([
  ['gzip', gzipSync(value)],
  ['zlib', deflateSync(value)],
  ['zip', Buffer.from(`PK\u0003\u0004${value}`)],
  ['UTF-16', Buffer.from(value, 'utf16le')],
])('discards a body that cannot be searched, also without a Content-Encoding: %s', async (_, body) => {
  expect(await redactOutcome(response(body), redactor)).toMatchObject({ body: Buffer.alloc(0), bodyTruncated: true })
})
