import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Request, RequestHandler } from 'express'
import sirv from 'sirv'

/** What a browser may load for the dashboard: nothing that is not ours, and no script or style inside a page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

// Paths that are not the dashboard's, whatever stands behind them.
const ofOthers = /^\/(api|admin|healthz|readyz|metrics)(\/|$)/

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(:\d+)$/

/** The folder that the build puts the dashboard into: beside the API's program, whose neighbour may be running. */
export const builtDashboard = join(import.meta.dirname, '../../api/dist/dashboard')

/**
 * Serves the dashboard's files, and its one page to whoever opens an address in it. Without a build it serves nothing.
 * Who opens this machine's own service by another of its names is led to the name of `publicUrl`: the session's cookie
 * and the check of where a change comes from go by that one.
 */
export function serveDashboard(folder: string, publicUrl: string): RequestHandler {
  if (!existsSync(join(folder, 'index.html'))) return (_request, _response, next) => next()
  const files = sirv(folder, {
    brotli: true,
    gzip: true,
    etag: true,
    setHeaders(response, path) {
      const isHashed = path.startsWith('/assets/')
      response.setHeader('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      response.setHeader('Content-Security-Policy', policy)
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
      response.setHeader('Referrer-Policy', 'no-referrer')
    },
  })
  return (request, response, next) => {
    if (!isReading(request) || ofOthers.test(request.path)) return next()
    if (isNavigation(request) && isAnotherName(request.headers.host, publicUrl)) {
      return response.redirect(307, publicUrl + request.originalUrl)
    }
    files(request, response, () => {
      if (!isNavigation(request)) return next()
      files(Object.assign(request, { url: '/' }), response, next)
    })
  }
}

function isReading({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD'
}

// A missing file is a missing file, not a page.
function isNavigation(request: Request): boolean {
  return !request.path.startsWith('/assets/') && /\btext\/html\b/.test(request.headers.accept ?? '')
}

// Another name of this machine's loopback, on the same port.
function isAnotherName(host = '', publicUrl: string): boolean {
  const own = new URL(publicUrl).host
  const [, port] = loopback.exec(host) ?? []
  return host !== own && port !== undefined && port === loopback.exec(own)?.[1]
}
