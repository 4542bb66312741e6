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
export function redactOutcome(outcome: AttemptOutcome, redactor: Redactor): AttemptOutcome {
  if (outcome.kind === 'failure') return outcome // Belfry's own message
  const shown = Object.entries(outcome.headers).map(([name, value]) => [redactor.text(name), redactValue(value)])
  const headers = Object.fromEntries(shown)
  // A compressed body may hold secrets that cannot be found here.
  if (isEncoded(outcome.headers['content-encoding'])) return withContent(outcome, headers, Buffer.alloc(0), true)
  const body = redactor.bytes(outcome.body, outcome.bodyTruncated)
  const isTruncated = outcome.bodyTruncated || body.length > maxBodyBytes
  return withContent(outcome, headers, body.subarray(0, maxBodyBytes), isTruncated) // a placeholder may be longer than the value

  function redactValue(value: string | string[]): string | string[] {
    return Array.isArray(value) ? value.map(redactor.text) : redactor.text(value)
  }
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
export function redactFault(error: unknown, redactor: Redactor): Error {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return Object.assign(new Error('An attempt with secrets failed.'), { stack: redactor.text(text) })
}

function isEncoded(encoding: string | string[] | undefined): boolean {
  return encoding !== undefined && String(encoding).toLowerCase() !== 'identity'
}
