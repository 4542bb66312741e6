import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { presentResponse } from './present-run.ts'
import type { RunDetailRow } from './run-row.ts'

const text = 'grün, ja: €'
const shown = (body: Buffer, headers: object, more: object = {}) => {
  const row = {
    responseStatus: 200,
    responseHeaders: JSON.stringify(headers),
    responseBody: body,
    responseBytes: body.length,
  }
  return presentResponse({ responseTruncated: false, ...row, ...more } as RunDetailRow)
}

it.each([
  ['iso-8859-1', 'gr\xfcn', 'grün'],
  ['ISO-8859-15', 'gr\xfcn', 'grün'],
  ['"windows-1252"', 'gr\xfcn', 'grün'],
  ['shift_jis', '\x93\xfa\x96\x7b', '日本'],
  ['utf-16le', 'a\0b\0', 'ab'],
  ['utf8', 'gr\xc3\xbcn', 'grün'],
])('a response in %s is decoded', (charset, bytes, body) => {
  const type = { 'content-type': `text/plain; charset=${charset}` }
  expect(shown(Buffer.from(bytes, 'latin1'), type)).toMatchObject({ body, body_encoding: 'utf8' })
})

it.each([
  [{}, 'gr\xfcn'],
  [{ 'content-type': 'text/plain; charset=utf-8' }, 'gr\xfcn'],
  [{ 'content-type': 'text/plain; charset=nonsense' }, 'abc'],
  [{ 'content-type': 'text/plain; charset=shift_jis' }, '\x93'],
])('bytes that are not in their charset are shown in base64: %j', (headers, bytes) => {
  const body = Buffer.from(bytes, 'latin1')
  expect(shown(body, headers)).toMatchObject({ body: body.toString('base64'), body_encoding: 'base64' })
})

it.each([
  ['gzip', gzipSync(text)],
  ['X-GZIP', gzipSync(text)],
  ['deflate', deflateSync(text)],
  ['br', brotliCompressSync(text)],
] as const)('a response in %s is decompressed, its beginning too', (encoding, bytes) => {
  const headers = { 'content-encoding': encoding }
  expect(shown(bytes, headers)).toMatchObject({ body: text, body_encoding: 'utf8', body_bytes: bytes.length })
  const cut = shown(bytes.subarray(0, -6), headers, { responseTruncated: true })
  expect([text.startsWith(cut?.body ?? '?'), cut?.body_encoding]).toEqual([true, 'utf8'])
})

it('what would take more than 64 KiB, or is not what it claims to be, stays as it came', () => {
  const headers = { 'content-encoding': 'gzip' }
  const long = gzipSync(Buffer.alloc(64 * 1024 + 1))
  expect(shown(long, headers)).toMatchObject({ body: long.toString('base64'), body_encoding: 'base64' })
  expect(shown(gzipSync('x'.repeat(64 * 1024)), headers)?.body).toHaveLength(64 * 1024)
  expect(shown(Buffer.from('plain'), headers)).toMatchObject({ body: 'plain', body_encoding: 'utf8' })
  expect(shown(Buffer.from('plain'), { 'content-encoding': 'zstd' })).toMatchObject({ body: 'plain' })
})
