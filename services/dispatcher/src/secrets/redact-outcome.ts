import type { Redactor } from '@belfry/domain/secrets/redact'
import type { ResponseOutcome } from '../egress/outcome.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'

/** Returns an outcome without the headers and the body of its response. */
export function withoutContent(outcome: AttemptOutcome): AttemptOutcome {
  return outcome.kind === 'failure' ? outcome : Object.assign({}, outcome, { headers: {}, ...emptyBody })
}

const emptyBody = { body: Buffer.alloc(0), bodyTruncated: true }
const maxBodyBytes = 64 * 1024

/** Returns an outcome without the secrets of the request, wherever the target put them. */
export async function redactOutcome(outcome: AttemptOutcome, redactor: Redactor): Promise<AttemptOutcome> {
  if (outcome.kind === 'failure') return outcome // Belfry's own message
  const shown = Object.entries(outcome.headers).map(async ([name, value]) => [
    await redactor.text(name),
    Array.isArray(value) ? await Promise.all(value.map(redactor.text)) : await redactor.text(value),
  ])
  const headers = Object.fromEntries(await Promise.all(shown))
  if (!isSearchable(outcome)) return Object.assign({}, outcome, { headers, ...emptyBody })
  const body = await redactor.bytes(outcome.body, outcome.bodyTruncated)
  const bodyTruncated = outcome.bodyTruncated || body.length > maxBodyBytes
  // A placeholder may be longer than the value.
  return Object.assign({}, outcome, { headers, body: body.subarray(0, maxBodyBytes), bodyTruncated })
}

/** Returns an internal error without the secrets of the request. */
export async function redactFault(error: unknown, redactor: Redactor): Promise<Error> {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return Object.assign(new Error('An attempt with secrets failed.'), { stack: await redactor.text(text) })
}

// A compressed body, or one in UTF-16, may hold secrets that cannot be found here.
function isSearchable({ headers, body }: ResponseOutcome): boolean {
  if (isEncoded(headers['content-encoding']) || body.includes(0)) return false
  return !compressed.some(magic => body.subarray(0, magic.length).equals(magic))
}

// gzip, bzip2, zstd, xz, zip, and zlib. Text does not begin like these.
const compressed = ['1f8b', '425a6839314159265359', '28b52ffd', 'fd377a585a', '504b0304', '7801', '789c', '78da'].map(
  hex => Buffer.from(hex, 'hex'),
)

function isEncoded(encoding: string | string[] | undefined): boolean {
  return encoding !== undefined && String(encoding).toLowerCase() !== 'identity'
}
