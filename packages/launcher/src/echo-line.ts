import { printable } from './log-line.ts'
import { clockTime } from './terminal.ts'

/** A request of the echo receiver, which is also its response. */
export type EchoedRequest = {
  method: string
  path: string
  headers: Record<string, string | string[] | undefined>
  body: string
}

const shownCharacters = 200

/** Returns one line about a request. */
export function echoLine({ method, path, headers, body }: EchoedRequest, at: Date): string {
  const shown = body.length > shownCharacters ? `${body.slice(0, shownCharacters)}...` : body
  const parts = [clockTime(at), 'received', method, path, headers['webhook-id'] ?? '-', shown]
  return printable(parts.join(' ').trimEnd())
}
