import type { Hosts } from '@belfry/contract/host'
import { queryOptions } from '@tanstack/react-query'
import { post } from './operation.ts'
import { objectOptions } from './page.ts'

export function hostsQuery(workspaceId: string) {
  const read = objectOptions<Hosts>(['hosts', workspaceId], '/api/v1/scheduler/hosts', workspaceId)
  return queryOptions({ ...read, refetchInterval: 5_000 })
}

/** Closes the circuit breaker of a host in every dispatcher. */
export const resetCircuit = post('/api/v1/scheduler/hosts/:host/reset')<void>
