import { hostIsVisiblyBlocked } from '@belfry/domain/address'
import type { FieldError } from '@belfry/domain/app-error'
import { parseUrl } from '@belfry/domain/target-url'
import type { Context } from '../context.ts'

/**
 * Returns an error for a URL whose host is visibly a private address. The dispatcher checks the address that it connects to.
 * @param field - The member of the body with the URL. Default: `url`.
 * @param prefix - The path of the body, for the error. Default: the request's body itself.
 */
export function inspectTarget(ctx: Pick<Context, 'config'>, body: unknown, field = 'url', prefix = ''): FieldError[] {
  const text = (Object(body) as Record<string, unknown>)[field]
  const url = typeof text === 'string' ? parseUrl(text) : null
  if (url === null || !hostIsVisiblyBlocked(url.hostname, ctx.config.allowedPrivateTargets)) return []
  const path = `${prefix}${field}`
  const message = `${path} has a private address, which this installation does not call.`
  return [{ path, code: 'blocked_address', message }]
}
