import type { Redactor } from '@belfry/domain'
import type { AttemptOutcome } from './attempt-outcome.ts'

const maxBodyBytes = 64 * 1024

/** An outcome in which no secret that was sent can be seen, wherever the target put it. */
export function redactOutcome(outcome: AttemptOutcome, redactor: Redactor): AttemptOutcome {
  if (outcome.kind === 'failure') return outcome // its message is one of ours
  const headers = Object.entries(outcome.headers).map(([name, value]) => [redactor.text(name), redactValue(value)])
  const shown = { ...outcome, headers: Object.fromEntries(headers) }
  // Nobody can look into it here, and whoever unpacks it can.
  if (isEncoded(outcome.headers['content-encoding'])) return { ...shown, body: Buffer.alloc(0), bodyTruncated: true }
  const body = redactor.bytes(outcome.body, outcome.bodyTruncated)
  return {
    ...shown,
    body: body.subarray(0, maxBodyBytes), // what stands for a value may be longer than the value
    bodyTruncated: outcome.bodyTruncated || body.length > maxBodyBytes,
  }

  function redactValue(value: string | string[]): string | string[] {
    return Array.isArray(value) ? value.map(redactor.text) : redactor.text(value)
  }
}

/** A fault of ours with nothing of the request in it. */
export function redactFault(error: unknown, redactor: Redactor): Error {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return Object.assign(new Error('An attempt with secrets failed.'), { stack: redactor.text(text) })
}

function isEncoded(encoding: string | string[] | undefined): boolean {
  return encoding !== undefined && String(encoding).toLowerCase() !== 'identity'
}
