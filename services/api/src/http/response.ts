import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { toJsonText } from '@belfry/present/raw-json'
import type { Request, Response } from 'express'

/** A response: a value as JSON, a text, or pieces of text as they become available. */
export type ResponseParts = {
  status: number
  headers?: Readonly<Record<string, string | string[]>> | undefined
  body?: unknown
  text?: string | Buffer | undefined
  /** Ended early when the caller disconnects. */
  pieces?: AsyncIterable<string> | undefined
}

/** What a handler returns to send more than its operation declares: another status, headers, a text. */
export class ApiResponse {
  readonly parts: ResponseParts

  constructor(parts: ResponseParts) {
    this.parts = parts
  }
}

/** The response with a new object of a list. Its path ends with its id, or with its name where it has no id. */
export function created<Body extends { id: string } | { name: string }>(list: string, body: Body): ApiResponse {
  const Location = `${list}/${'id' in body ? body.id : body.name}`
  return new ApiResponse({ status: 201, body, headers: { Location } })
}

export function accepted(location: string, body: unknown): ApiResponse {
  return new ApiResponse({ status: 202, body, headers: { Location: location } })
}

/**
 * Calls `act` when the response to a request whose body is not read is sent, or its caller has left; perhaps more than once.
 * The response alone does not tell: while it waits for an earlier one on its connection, it is not closed with it.
 */
export function whenOver(request: Request, act: () => void): void {
  if (request.destroyed) act()
  request.once('close', act)
  request.res?.once('close', act)
}

/** Sends a response. Resolves when it is handed to the connection; for pieces, when the last piece is. */
export async function sendResponse(response: Response, parts: ResponseParts): Promise<void> {
  for (const name in parts.headers) response.setHeader(name, parts.headers[name] ?? '')
  response.statusCode = parts.status
  if (parts.pieces) return sendPieces(response, parts.pieces)
  const content = parts.text ?? (parts.body === undefined ? undefined : toJsonText(parts.body))
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
/** A caller that has not read for this long is gone or stuck. */
const drainTimeoutMs = 30_000

// Asks for the next piece when the caller has read the last one, so memory does not grow with the response. Ends when the
// caller leaves, or has not read for half a minute.
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

/** What responses may keep in the memory of this process until their callers read them. */
const maxBytes = 64 * 1024 * 1024

/** The bytes of each such response, the oldest first. */
const unread = new Map<ServerResponse, number>()
let bytesOfAll = 0

/**
 * Counts the bytes of a response, until `releaseUnread`. Closes the oldest ones when all have too many: new requests do
 * not wait for callers that do not read.
 */
function holdUnread(response: ServerResponse, bytes: number): void {
  unread.set(response, bytes)
  bytesOfAll += bytes
  for (const oldest of unread.keys()) {
    if (bytesOfAll <= maxBytes) return
    releaseUnread(oldest)
    oldest.destroy()
  }
}

/** Called when the caller has read a response, or left. */
function releaseUnread(response: ServerResponse): void {
  bytesOfAll -= unread.get(response) ?? 0
  unread.delete(response)
}
