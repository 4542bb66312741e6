import type { Redactor } from '@belfry/domain/secrets/redact'
import type { AttemptOutcome } from './attempt-outcome.ts'

/** Returns an outcome without the headers and the body of its response. */
export function withoutContent(outcome: AttemptOutcome): AttemptOutcome {
  if (outcome.kind === 'failure') return outcome
  return { ...outcome, headers: {}, body: Buffer.alloc(0), bodyTruncated: true }
}

const maxBodyBytes = 64 * 1024

/** Returns an outcome without the secrets of the request, wherever the target put them. */
export function redactOutcome(outcome: AttemptOutcome, redactor: Redactor): AttemptOutcome {
  if (outcome.kind === 'failure') return outcome // Belfry's own message
  const headers = Object.entries(outcome.headers).map(([name, value]) => [redactor.text(name), redactValue(value)])
  const shown = { ...outcome, headers: Object.fromEntries(headers) }
  // A compressed body may hold secrets that cannot be found here.
  if (isEncoded(outcome.headers['content-encoding'])) return { ...shown, body: Buffer.alloc(0), bodyTruncated: true }
  const body = redactor.bytes(outcome.body, outcome.bodyTruncated)
  return {
    ...shown,
    body: body.subarray(0, maxBodyBytes), // a placeholder may be longer than the value
    bodyTruncated: outcome.bodyTruncated || body.length > maxBodyBytes,
  }

  function redactValue(value: string | string[]): string | string[] {
    return Array.isArray(value) ? value.map(redactor.text) : redactor.text(value)
  }
}

/** Returns an internal error without the secrets of the request. */
export function redactFault(error: unknown, redactor: Redactor): Error {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return Object.assign(new Error('An attempt with secrets failed.'), { stack: redactor.text(text) })
}

function isEncoded(encoding: string | string[] | undefined): boolean {
  return encoding !== undefined && String(encoding).toLowerCase() !== 'identity'
}
