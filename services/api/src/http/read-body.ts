import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '@belfry/domain/app-error'
import { findUnstorable, inspectJson, type JsonLimits } from '@belfry/domain/json-text'

export type BodyLimits = JsonLimits & { maxBytes: number }

/** The limits of a body, unless its endpoint allows more. */
export const bodyLimits: BodyLimits = { maxBytes: 256 * 1024, maxDepth: 32, maxKeys: 10_000 }

const jsonType = /^application\/json\s*(;|$)/i
const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i

function isJson(contentType: string): boolean {
  return jsonType.test(contentType) && /^utf-?8$/i.test(charset.exec(contentType)?.[1] ?? 'utf-8')
}

/**
 * Reads a request's JSON body, as text and parsed. A request without a body has an empty object.
 * @throws AppError for another content type, too many bytes, invalid JSON, and text outside of payloads that cannot be stored.
 */
export async function readJsonBody(request: IncomingMessage, response: ServerResponse, limits: BodyLimits) {
  if (!hasBody(request)) return { text: '{}', value: {} }
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
  if (!isJson(type) || encoding.toLowerCase() !== 'identity') {
    throw new AppError('unsupported_media_type', 'Send the body as application/json in UTF-8, not compressed.')
  }
  const bytes = await readBytes(request, response, limits.maxBytes)
  if (!isUtf8(bytes)) throw new AppError('malformed_json', 'The body is not valid UTF-8.')
  const text = bytes.toString() || '{}'
  const inspected = inspectJson(text, limits)
  if (!inspected.ok) throw new AppError('malformed_json', inspected.reason)
  const unstorable = findUnstorable(text) && findUnstorable(withoutPayloads(inspected.value))
  if (unstorable) throw new AppError('malformed_json', `The body contains ${unstorable}, which cannot be stored.`)
  return { text, value: inspected.value }
}

// A payload is stored as its text, in which an escape is six plain characters.
function withoutPayloads(value: unknown): string {
  return JSON.stringify(value, (name, member) => (name === 'payload' ? null : member))
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export function readBytes(request: IncomingMessage, response: ServerResponse, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(new AppError('payload_too_large', `The body is larger than ${maxBytes} bytes.`))
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuse()
    if (request.headers.expect !== undefined && request.httpVersion === '1.1') {
      response.removeHeader('Connection')
      response.writeContinue()
    }
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) {
        chunks.push(chunk)
        return
      }
      request.pause()
      refuse()
    })
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    request.on('error', reject) // also when the caller disconnects
  })
}
