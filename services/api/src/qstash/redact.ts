import { createHash } from 'node:crypto'

/** Returns what answers show in place of a value that its publisher has redacted: the same values look the same. */
export function redacted(value: string): string {
  return `REDACTED:${createHash('sha256').update(value).digest('hex')}`
}

/** Returns whether a list of redactions covers a header. */
export function redactsHeader(redact: readonly string[], name: string): boolean {
  return redact.some(field => field === 'header' || field.toLowerCase() === `header[${name.toLowerCase()}]`)
}
