import type { BlockedAddress, FoundTargets, OperatorEntry, Tenant, TenantDetail } from '@belfry/contract/operator'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { type ListQuery, listOptions } from './page.ts'

const base = '/api/v1/operator'

export function tenantsQuery(query: ListQuery) {
  return listOptions<Tenant>(['tenants'], `${base}/organizations`, query)
}

export function tenantQuery(orgId: string) {
  return queryOptions({
    queryKey: ['tenant', orgId],
    queryFn: ({ signal }) => call<TenantDetail>('GET', `${base}/organizations/${orgId}`, { signal }),
    refetchInterval: 5_000,
  })
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

export function blockAddress(body: { email: string; reason?: string }): Promise<void> {
  return call('POST', `${base}/blocked-addresses`, { body })
}

export function unblockAddress(email: string): Promise<void> {
  return call('POST', `${base}/blocked-addresses/remove`, { body: { email } })
}

export type Suspendable = 'organizations' | 'workspaces' | 'users'

export function setSuspension(kind: Suspendable, id: string, isSuspended: boolean, reason: string): Promise<void> {
  const body = reason === '' ? {} : { reason }
  return call('POST', `${base}/${kind}/${id}/${isSuspended ? 'suspend' : 'resume'}`, { body })
}

export function setTenantTier(orgId: string, tier: string): Promise<void> {
  return call('PUT', `${base}/organizations/${orgId}/tier`, { body: { tier } })
}

export function resetFactors(userId: string, reason: string): Promise<void> {
  return call('POST', `${base}/users/${userId}/factors/reset`, { body: reason === '' ? {} : { reason } })
}
