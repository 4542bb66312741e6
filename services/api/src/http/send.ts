import type { Response } from 'express'
import { toJsonText } from './json.ts'
import type { Reply } from './reply.ts'

/** Sends an endpoint's answer. */
export function sendReply(response: Response, reply: Reply): void {
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value)
  response.statusCode = reply.status
  if (reply.body === undefined) {
    response.end()
    return
  }
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json; charset=utf-8')
  const bytes = Buffer.from(toJsonText(reply.body))
  response.setHeader('Content-Length', bytes.length)
  response.end(bytes)
}
