import type { Redactor } from '@belfry/domain/secrets/redact'
import type { ResponseOutcome } from '../egress/outcome.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'

/** Returns an outcome without the headers and the body of its response. */
export function withoutContent(outcome: AttemptOutcome): AttemptOutcome {
  if (outcome.kind === 'failure') return outcome
  return withContent(outcome, {}, Buffer.alloc(0), true)
}

const maxBodyBytes = 64 * 1024

/** Returns an outcome without the secrets of the request, wherever the target put them. */
export async function redactOutcome(outcome: AttemptOutcome, redactor: Redactor): Promise<AttemptOutcome> {
  if (outcome.kind === 'failure') return outcome // Belfry's own message
  const shown = Object.entries(outcome.headers).map(async ([name, value]) => [
    await redactor.text(name),
    Array.isArray(value) ? await Promise.all(value.map(redactor.text)) : await redactor.text(value),
  ])
  const headers = Object.fromEntries(await Promise.all(shown))
  // A compressed body may hold secrets that cannot be found here.
  if (isEncoded(outcome.headers['content-encoding'])) return withContent(outcome, headers, Buffer.alloc(0), true)
  const body = await redactor.bytes(outcome.body, outcome.bodyTruncated)
  const isTruncated = outcome.bodyTruncated || body.length > maxBodyBytes
  return withContent(outcome, headers, body.subarray(0, maxBodyBytes), isTruncated) // a placeholder may be longer than the value
}

function withContent(
  { kind, status, bodyBytes, timings }: ResponseOutcome,
  headers: ResponseOutcome['headers'],
  body: Buffer,
  bodyTruncated: boolean,
): ResponseOutcome {
  return { kind, status, headers, body, bodyBytes, bodyTruncated, timings }
}

/** Returns an internal error without the secrets of the request. */
export async function redactFault(error: unknown, redactor: Redactor): Promise<Error> {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return Object.assign(new Error('An attempt with secrets failed.'), { stack: await redactor.text(text) })
}

function isEncoded(encoding: string | string[] | undefined): boolean {
  return encoding !== undefined && String(encoding).toLowerCase() !== 'identity'
}
