import { AppError } from '@belfry/domain'
import type { NextFunction, Request, Response } from 'express'

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Rejects requests whose `Host` is not a name of this installation: a web page can make its own name resolve to a private
 * address, and would then be of the same origin as Belfry (DNS rebinding). Ports do not matter for that.
 * @param hosts - Names in addition to those of loopback.
 */
export function checkHost(hosts: readonly string[]) {
  const known = new Set(hosts)
  return (request: Request, _response: Response, next: NextFunction): void => {
    const name = nameOf(request.headers.host ?? '')
    if (!known.has(name) && !loopback.test(name)) {
      throw new AppError(
        'misdirected_request',
        'This installation has another address. Its operator can set ALLOWED_HOSTS.',
      )
    }
    next()
  }
}

function nameOf(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}

/** Parses comma-separated host names and addresses. Throws for anything else. */
export function parseHosts(text: string): string[] {
  const hosts = text
    .split(',')
    .map(host => host.trim().toLowerCase())
    .filter(host => host !== '')
  for (const host of hosts) {
    if (!/^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/.test(host)) {
      throw new Error(`"${host}" is not a host name or an address (IPv6 in brackets)`)
    }
  }
  return hosts
}
