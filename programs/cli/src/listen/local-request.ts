import type { RunDetail } from '@belfry/client'

/** The request for a program on this machine. */
export type LocalRequest = { url: URL; method: string; headers: Record<string, string>; body: string | Buffer | null }

// These headers belong to the original connection.
const ofConnection = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding', 'te'])

/** Returns the request of a run for another address, with its original signature. */
export function toLocalRequest({ request }: RunDetail, base: URL, path: string | undefined): LocalRequest {
  const { pathname, search } = new URL(request.url)
  // Set part by part, because resolving a path such as //example.com would lead to another host.
  const url = new URL(base)
  url.pathname = path ?? base.pathname.replace(/\/$/, '') + pathname
  url.search = search
  const headers = Object.entries(request.headers).filter(([name]) => !ofConnection.has(name.toLowerCase()))
  const body =
    request.body !== null && request.bodyEncoding === 'base64' ? Buffer.from(request.body, 'base64') : request.body
  return { url, method: request.method, headers: Object.fromEntries(headers), body }
}

/** The deliveries that may reach this machine. Default: all. */
export type Expected = { from?: readonly string[]; pathPrefix?: string }

/** Returns whether a delivery to a URL may reach this machine. A host without a port matches every port. */
export function isExpected(url: string, { from, pathPrefix = '/' }: Expected): boolean {
  if (!URL.canParse(url)) return false
  const { host, hostname, pathname } = new URL(url)
  const isFromHost = from === undefined || from.some(one => [host, hostname].includes(one.toLowerCase()))
  const prefix = `/${pathPrefix.replace(/^\//, '')}`
  return isFromHost && (pathname === prefix || pathname.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`))
}

/** Returns why a run cannot be forwarded unchanged, or null if it can. */
export function whyNotFaithful({ request }: RunDetail): string | null {
  const isHidden = [request.url, request.body ?? '', ...Object.values(request.headers)].some(text =>
    /\{\{ (secrets|connections)\.[\w.-]+ \}\}/.test(text),
  )
  return isHidden ? 'it contains secrets, which the log does not show' : null
}
