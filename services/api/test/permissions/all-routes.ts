import type { Endpoint } from '../../src/endpoint.ts'
import { routes } from '../../src/routes.ts'

/** An endpoint under its method and path, such as `GET /api/v1/workspaces/:ws`. */
export type Route = { name: string; method: string; path: string; params: string[]; endpoint: Endpoint }

/** Every endpoint of the router. */
export function allRoutes(): Route[] {
  return Object.entries(routes).flatMap(([path, methods]) =>
    Object.entries(methods).map(([verb, endpoint]) => {
      const method = verb.toUpperCase()
      const params = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '')
      return { name: `${method} ${path}`, method, path, params, endpoint }
    }),
  )
}
