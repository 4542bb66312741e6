import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Behaviour, ReceiverOptions } from '@belfry/test-support'

const nothing = Buffer.alloc(50_000_000)

/** A target that misbehaves, and the outcome of an attempt that calls it. */
export type Hostility = { name: string; receiver: ReceiverOptions; ends: string; isEndless?: boolean }

const answering = (name: string, ends: string, otherwise: Behaviour): Hostility => ({
  name,
  receiver: { otherwise },
  ends,
})
const waiting = (...hostility: Parameters<typeof answering>) => ({ ...answering(...hostility), isEndless: true })
const compressed = (encoding: string, body: Buffer) =>
  answering(`a bomb in ${encoding}`, 'success 200', { headers: { 'content-encoding': encoding }, body })

export const hostilities: Hostility[] = [
  waiting('hangs', 'failed timeout', { does: 'hang' }),
  waiting('drips its headers', 'failed timeout', { does: 'drip', everyMs: 1_000, part: 'all' }),
  waiting('drips its body', 'success 200', { does: 'drip', everyMs: 1_000 }),
  waiting('hangs in its body', 'success 200', { does: 'hang_in_body' }),
  answering('sends a body without end', 'success 200', { does: 'endless_body' }),
  answering('sends headers without end', 'success 200', { does: 'endless_headers' }),
  answering('sends 103 without end', 'failed invalid_response', { does: 'informational_flood' }),
  answering('sends 100 without end', 'failed invalid_response', { does: 'informational_flood', status: 100 }),
  answering('speaks something else', 'failed invalid_response', { does: 'raw', bytes: '220 mail.example ESMTP\r\n' }),
  answering('closes at once', 'failed connection_reset', { does: 'raw', bytes: '', thenClose: true }),
  answering('closes in its body', 'success 200', { does: 'close_in_body' }),
  answering('sends a body with 204', 'success 204', { does: 'body_on_204' }),
  compressed('gzip', Buffer.concat(Array(20).fill(gzipSync(nothing)))),
  compressed('br', brotliCompressSync(nothing)),
  compressed('zstd', Buffer.concat([Buffer.from('28b52ffd', 'hex'), nothing.subarray(0, 1_000_000)])),
  { name: 'has a self-signed certificate', receiver: { certificateFor: '127.0.0.1' }, ends: 'failed tls' },
  {
    name: 'has an expired certificate',
    receiver: { certificateFor: '127.0.0.1', certificateFault: 'expired' },
    ends: 'failed tls',
  },
]

/** Returns the outcome of a run, such as `success 200` or `failed timeout`. */
export function describeRun({
  status,
  response_status,
  error,
}: {
  status: string
  response_status?: number
  error?: { code: string }
}) {
  return `${status} ${error?.code ?? response_status}`
}
