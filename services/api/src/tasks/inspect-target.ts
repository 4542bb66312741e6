import type { FieldError } from '@belfry/contract'
import { hostIsVisiblyBlocked } from '@belfry/domain'
import type { Context } from '../context.ts'

/** Refuses a URL whose host can be seen to be a private address. The dispatcher judges the address that it dials. */
export function inspectTarget(ctx: Context, body: unknown): FieldError[] {
  const url = typeof body === 'object' && body !== null && 'url' in body ? body.url : undefined
  if (typeof url !== 'string' || !URL.canParse(url)) return []
  if (!hostIsVisiblyBlocked(new URL(url).hostname, ctx.config.allowedPrivateTargets)) return []
  const message = 'url points to a private address, which this installation does not call.'
  return [{ path: 'url', code: 'blocked_address', message }]
}
