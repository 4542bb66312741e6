import type { Hosts } from '@belfry/contract/host'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

const base = '/api/v1/scheduler/hosts'

export function hostsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['hosts', workspaceId],
    queryFn: ({ signal }) => call<Hosts>('GET', base, { workspaceId, signal }),
    refetchInterval: 5_000,
  })
}

/** Closes the circuit breaker of a host in every dispatcher. */
export function resetCircuit(workspaceId: string, host: string): Promise<void> {
  return call('POST', `${base}/${encodeURIComponent(host)}/reset`, { workspaceId })
}
