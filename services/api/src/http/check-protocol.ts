import type { IncomingMessage } from 'node:http'
import { AppError } from '@belfry/domain'
import type { NextFunction, Request, Response } from 'express'

/**
 * Rejects requests that HTTP/1.1 requires a server to reject and that Node accepts. Decodes needless escapes in the path:
 * `%74asks` is `tasks` (RFC 3986, 6.2.2.2).
 */
export function checkProtocol(request: Request, response: Response, next: NextFunction): void {
  const refusal = refusalOf(request)
  if (refusal) {
    response.setHeader('Connection', 'close')
    throw refusal
  }
  request.url = withoutNeedlessEscapes(request.url)
  next()
}

function refusalOf(request: IncomingMessage): AppError | null {
  if (request.httpVersion !== '1.1') return null
  // Two servers on the path could each use another one (RFC 9112, 3.2).
  if (countHosts(request) !== 1) return new AppError('bad_request', 'Send exactly one Host header.')
  const { expect = '100-continue' } = request.headers
  if (expect.toLowerCase() === '100-continue') return null
  return new AppError('expectation_failed', 'The only supported expectation is 100-continue.')
}

function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === 'host') count++
  return count
}

function withoutNeedlessEscapes(url: string): string {
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  if (!path.includes('%')) return url
  const plain = path.replace(/%[2-7][0-9a-f]/gi, escaped => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : escaped
  })
  return plain + url.slice(path.length)
}
