import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { parseCidrs } from '@belfry/domain/address'
import { AppError } from '@belfry/domain/app-error'
import { entriesOf } from '@belfry/runtime'
import type { NextFunction, Request, Response } from 'express'

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Rejects requests whose `Host` is not a name of this installation: a web page can make its own name resolve to a private
 * address, and would then be of the same origin as Belfry (DNS rebinding). Ports do not matter for that.
 * @param hosts - Names in addition to the loopback names.
 */
export function checkHost(hosts: readonly string[]) {
  const known = new Set(hosts)
  return (request: Request, _response: Response, next: NextFunction): void => {
    const name = (request.headers.host ?? '').replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
    if (!known.has(name) && !loopback.test(name)) {
      throw new AppError(
        'misdirected_request',
        'This installation has another address. Its operator can set ALLOWED_HOSTS.',
      )
    }
    next()
  }
}

/** Parses comma-separated host names and addresses. Throws for anything else. */
export function parseHosts(text: string): string[] {
  const hosts = entriesOf(text.toLowerCase())
  for (const host of hosts) {
    if (!/^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/.test(host)) {
      throw new Error(`"${host}" is not a host name or an address (IPv6 in brackets)`)
    }
  }
  return hosts
}

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
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') count++
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

const names = ['loopback', 'linklocal', 'uniquelocal']

/**
 * Parses the proxies that may report a caller's address, as Express takes them: false, a number of hops, or addresses.
 * "All" is not allowed: callers could choose the address that limits count them by.
 * @throws Error with the reason.
 */
export function parseTrustedProxies(text: string): false | number | string[] {
  if (text.trim() === '') return false
  if (/^[1-9]$/.test(text.trim())) return Number(text)
  const entries = text.split(',').map(entry => entry.trim())
  for (const entry of entries) {
    if (entry === '') throw new Error('has an empty entry')
    if (!names.includes(entry) && !isIP(entry)) parseCidrs(entry)
  }
  return entries
}
