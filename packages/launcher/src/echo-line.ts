import { printable } from './log-line.ts'
import { clockTime } from './terminal.ts'

/** What the echo receiver got, and answers. */
export type EchoedRequest = {
  method: string
  path: string
  headers: Record<string, string | string[] | undefined>
  body: string
}

const shownCharacters = 200

/** Tells of a received request in one line. */
export function echoLine({ method, path, headers, body }: EchoedRequest, at: Date): string {
  const shown = body.length > shownCharacters ? `${body.slice(0, shownCharacters)}...` : body
  const parts = [clockTime(at), 'received', method, path, headers['webhook-id'] ?? '-', shown]
  return printable(parts.join(' ').trimEnd())
}
