import type { FieldError } from '@belfry/contract'
import { hostIsVisiblyBlocked, parseUrl } from '@belfry/domain'
import type { Context } from '../context.ts'

/**
 * Refuses a URL whose host can be seen to be a private address. The dispatcher judges the address that it dials.
 * @param field - The member of the body that holds the URL.
 */
export function inspectTarget(ctx: Pick<Context, 'config'>, body: unknown, field = 'url'): FieldError[] {
  const text = (Object(body) as Record<string, unknown>)[field]
  const url = typeof text === 'string' ? parseUrl(text) : null
  if (url === null || !hostIsVisiblyBlocked(url.hostname, ctx.config.allowedPrivateTargets)) return []
  const message = `${field} points to a private address, which this installation does not call.`
  return [{ path: field, code: 'blocked_address', message }]
}
