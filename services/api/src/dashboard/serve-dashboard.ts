import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Request, RequestHandler } from 'express'
import sirv from 'sirv'

/** Lets a browser load only files of the dashboard and a frame from one origin, and no script or style inside a page. */
const policyWith = (frames: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    `frame-src ${frames}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

// Paths that do not belong to the dashboard.
const ofOthers = /^\/(api|admin\/queues|admin\/hosts|healthz|readyz|metrics)(\/|$)/

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(:\d+)$/

/** The folder of the built dashboard, next to the API's bundle. Another program of the same build may be running. */
export const builtDashboard = join(import.meta.dirname, '../../../services/api/dist/dashboard')

/**
 * Serves the dashboard's files, and its one page for every address in it. Without a build it passes all requests on. A
 * browser that opens the service by another loopback name is redirected to `publicUrl`, because the session cookie and
 * the same-origin check use that name.
 * @param checkUrl - The page that the form for a new account shows in a frame, or null.
 */
export function serveDashboard(folder: string, publicUrl: string, checkUrl: string | null): RequestHandler {
  const policy = policyWith(checkUrl === null ? "'none'" : new URL(checkUrl).origin)
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

// A missing asset is an error, not a page.
function isNavigation(request: Request): boolean {
  return !request.path.startsWith('/assets/') && /\btext\/html\b/.test(request.headers.accept ?? '')
}

// Returns whether a host is another loopback name for the same port.
function isAnotherName(host = '', publicUrl: string): boolean {
  const own = new URL(publicUrl).host
  const [, port] = loopback.exec(host) ?? []
  return host !== own && port !== undefined && port === loopback.exec(own)?.[1]
}
