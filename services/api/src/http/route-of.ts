import type { Request } from 'express'

/** The pattern of the path that a request was served under, of which there are few; `none` when there was none. */
export function routeOf({ baseUrl, route }: Request): string {
  return baseUrl || (typeof route?.path === 'string' ? route.path : 'none')
}
