import type { BlockedAddress, FoundTargets, OperatorEntry, Tenant, TenantDetail } from '@belfry/contract/operator'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { post, put } from './operation.ts'
import { type ListQuery, listOptions, objectOptions } from './page.ts'

const base = '/api/v1/operator'

export function tenantsQuery(query: ListQuery) {
  return listOptions<Tenant>(['tenants'], `${base}/organizations`, query)
}

export function tenantQuery(orgId: string) {
  const read = objectOptions<TenantDetail>(['tenant', orgId], `${base}/organizations/${orgId}`)
  return queryOptions({ ...read, refetchInterval: 5_000 })
}

export function targetsQuery(host: string) {
  return queryOptions({
    queryKey: ['targets', host],
    queryFn: ({ signal }) => call<FoundTargets>('GET', `${base}/targets`, { query: { host }, signal }),
    enabled: host !== '',
  })
}

export function operatorLogQuery() {
  return listOptions<OperatorEntry>(['operator-log'], `${base}/log`, {})
}

export function blockedAddressesQuery(query: ListQuery) {
  return listOptions<BlockedAddress>(['blocked-addresses'], `${base}/blocked-addresses`, query)
}

export const blockAddress = post('/api/v1/operator/blocked-addresses')<void, { email: string; reason?: string }>
export const unblockAddress = post('/api/v1/operator/blocked-addresses/remove')<void, { email: string }>
export const setTenantTier = put('/api/v1/operator/organizations/:org/tier')<void, { tier: string }>

export type Suspendable = 'organizations' | 'workspaces' | 'users'

export function setSuspension(kind: Suspendable, id: string, isSuspended: boolean, reason: string): Promise<void> {
  const body = reason === '' ? {} : { reason }
  return call('POST', `${base}/${kind}/${id}/${isSuspended ? 'suspend' : 'resume'}`, { body })
}

export function resetFactors(userId: string, reason: string): Promise<void> {
  return call('POST', `${base}/users/${userId}/factors/reset`, { body: reason === '' ? {} : { reason } })
}
