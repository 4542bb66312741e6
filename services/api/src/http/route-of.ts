import type { Request } from 'express'

/** The pattern of the path that a request was served under, of which there are few; `none` when there was none. */
export function routeOf({ baseUrl, route }: Request): string {
  return baseUrl || (typeof route?.path === 'string' ? route.path : 'none')
}

/** The path that a request was served under as the interface writes it, however the caller has spelled it. */
export function canonicalPath({ route, params }: Request): string {
  return String(route.path).replace(/:(\w+)/g, (_, name: string) => String(params[name]))
}
