import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { toJsonText } from '@belfry/present/raw-json'
import type { Response } from 'express'
import { holdUnread, releaseUnread } from './unread-responses.ts'

/** The response of an endpoint: a value as JSON, a text, or pieces of text as they become available. */
export type Reply = {
  status: number
  headers?: Record<string, string | string[]>
  body?: unknown
  text?: string | Buffer
  /** Ended early when the caller disconnects. */
  pieces?: AsyncIterable<string>
}

export function ok(body: unknown): Reply {
  return { status: 200, body }
}

export function created(location: string, body: unknown): Reply {
  return { status: 201, body, headers: { Location: location } }
}

export function accepted(body: unknown, headers: Record<string, string> = {}): Reply {
  return { status: 202, body, headers }
}

export function noContent(): Reply {
  return { status: 204 }
}

/** Returns a text of another type than JSON. */
export function text(type: string, content: string | Buffer, headers: Record<string, string> = {}): Reply {
  return { status: 200, text: content, headers: { 'Content-Type': `${type}; charset=utf-8`, ...headers } }
}

/** Sends a reply. Resolves when it is handed to the connection; for pieces, when the last piece is. */
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
  const bytes = Buffer.byteLength(content)
  response.setHeader('Content-Length', bytes)
  response.end(content) // a text leaves together with the headers, in one write
  if (bytes <= minHeldBytes || response.writableFinished) return
  response.once('close', () => releaseUnread(response))
  holdUnread(response, bytes)
}

// Smaller responses are in the buffers of the network.
const minHeldBytes = 64 * 1024
// The page that the pieces are made of, and the pieces that were written.
const maxHeldByPieces = 4_000_000
/** A caller that reads nothing for so long is gone or stuck. */
const drainTimeoutMs = 30_000

// Asks for the next piece when the caller has read the last one, so memory does not grow with the reply. Ends when the
// caller leaves, or reads nothing for half a minute.
async function sendPieces(response: ServerResponse, pieces: AsyncIterable<string>): Promise<void> {
  response.flushHeaders()
  for await (const piece of pieces) {
    if (response.destroyed) return
    if (response.write(piece)) continue
    holdUnread(response, maxHeldByPieces)
    const isRead = await hasDrained(response)
    releaseUnread(response)
    if (!isRead) {
      response.destroy()
      return
    }
  }
  response.end()
}

async function hasDrained(response: ServerResponse): Promise<boolean> {
  const over = new AbortController()
  const onClose = () => over.abort()
  response.once('close', onClose)
  const timer = setTimeout(onClose, drainTimeoutMs)
  try {
    await once(response, 'drain', { signal: over.signal })
    return true
  } catch {
    return false // closed, broken or too slow
  } finally {
    clearTimeout(timer)
    response.removeListener('close', onClose)
  }
}
