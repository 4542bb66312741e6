import type { RunDetail } from '@belfry/client'

/** What a program on this machine is sent. */
export type LocalRequest = { url: URL; method: string; headers: Record<string, string>; body: string | null }

// These belong to a connection, and this is another one.
const ofConnection = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding', 'te'])

/** The request of a run once more, to another address: as it was sent, signature included. */
export function toLocalRequest({ request }: RunDetail, base: URL, path: string | undefined): LocalRequest {
  const { pathname, search } = new URL(request.url)
  // Set piece by piece: a path such as //example.com, resolved, would lead to another host.
  const url = new URL(base)
  url.pathname = path ?? joinPaths(base.pathname, pathname)
  url.search = search
  const headers = Object.entries(request.headers).filter(([name]) => !ofConnection.has(name.toLowerCase()))
  return { url, method: request.method, headers: Object.fromEntries(headers), body: request.body }
}

/** Why a run cannot be sent again as it was; null when it can. */
export function whyNotFaithful({ request }: RunDetail): string | null {
  const isHidden = [request.url, request.body ?? '', ...Object.values(request.headers)].some(text =>
    /\{\{ secrets\.\w+ \}\}/.test(text),
  )
  return isHidden ? 'it has secrets, which the log does not show' : null
}

function joinPaths(before: string, after: string): string {
  return before.replace(/\/$/, '') + after
}
