import { AppError } from '@belfry/domain'
import type { Request } from 'express'

/**
 * Refuses a change that a browser makes with its cookie unless a page of ours asked for it: a browser sends the cookie
 * along with requests that other sites start. Where a body is taken it must be JSON besides.
 */
export function requireSameOrigin(publicUrl: string, request: Request): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const { origin } = request.headers
  if (origin === undefined ? request.headers['sec-fetch-site'] === 'same-origin' : origin === publicUrl) return
  throw new AppError('forbidden', `A change with the session cookie needs an Origin header of ${publicUrl}.`)
}
