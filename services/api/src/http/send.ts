import type { Response } from 'express'
import { toJsonText } from './json.ts'
import type { Reply } from './reply.ts'
import { sendPieces } from './send-pieces.ts'

/** Sends an endpoint's answer. Resolves when it is handed over; for pieces, when the last one is. */
export async function sendReply(response: Response, reply: Reply): Promise<void> {
  for (const name in reply.headers) response.setHeader(name, reply.headers[name] ?? '')
  response.statusCode = reply.status
  if (reply.pieces) return sendPieces(response, reply.pieces)
  const content = reply.text ?? (reply.body === undefined ? undefined : toJsonText(reply.body))
  if (content === undefined) {
    response.end()
    return
  }
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(content))
  response.end(content) // a text leaves together with the headers, in one write
}
