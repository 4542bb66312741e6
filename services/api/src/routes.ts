import type { Operation } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import type { Endpoint, Methods } from './endpoint.ts'
import * as all from './endpoints.ts'
import { mcpRoutes } from './mcp-events-2026-07-28/mcp-subscriptions.ts'

/** The endpoint of each operation: both have the same name. */
const endpoints: Record<keyof typeof operations, Endpoint> = all

type Routes = Record<string, Methods>

export const routes: Routes = {}
for (const [name, { method, path }] of Object.entries<Operation>(operations)) {
  const methods = routes[path] ?? {}
  methods[method.toLowerCase() as keyof Methods] = endpoints[name as keyof typeof operations]
  routes[path] = methods
}

/** Further paths of endpoints. The reference does not list them. */
export const aliases: Routes = { '/api/v1/events': { post: endpoints.publishEvent }, ...mcpRoutes }
