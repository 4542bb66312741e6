import type { ListedAuditEntry } from '@belfry/contract/audit-entry'
import type { AuditStream } from '@belfry/contract/audit-stream'
import type { Member } from '@belfry/contract/member'
import type { Organization, UpdateOrganizationBody } from '@belfry/contract/organization'
import type { BillingPortal, OrganizationSubscription } from '@belfry/contract/tier'
import type { Usage } from '@belfry/contract/usage'
import { queryOptions } from '@tanstack/react-query'
import { call, queryText } from './call.ts'
import { type ListQuery, listOptions } from './page.ts'

export function organizationQuery(orgId: string) {
  return queryOptions({
    queryKey: ['organization', orgId],
    queryFn: ({ signal }) => call<Organization>('GET', `/api/v1/organizations/${orgId}`, { signal }),
    staleTime: 30_000,
  })
}

export function createOrganization(body: { name: string }): Promise<Organization> {
  return call('POST', '/api/v1/organizations', { body })
}

export function updateOrganization(orgId: string, body: UpdateOrganizationBody): Promise<Organization> {
  return call('PATCH', `/api/v1/organizations/${orgId}`, { body })
}

/** Makes another member an owner in place of the signed-in user. */
export function transferOrganization(orgId: string, userId: string): Promise<Member> {
  return call('POST', `/api/v1/organizations/${orgId}/transfer`, { body: { user_id: userId } })
}

export function deleteOrganization(orgId: string): Promise<void> {
  return call('DELETE', `/api/v1/organizations/${orgId}`)
}

export function usageQuery(orgId: string) {
  return queryOptions({
    queryKey: ['usage', orgId],
    queryFn: ({ signal }) => call<Usage>('GET', `/api/v1/organizations/${orgId}/usage`, { signal }),
    refetchInterval: 15_000,
  })
}

export function tierQuery(orgId: string) {
  return queryOptions({
    queryKey: ['tier', orgId],
    queryFn: ({ signal }) =>
      call<OrganizationSubscription>('GET', `/api/v1/organizations/${orgId}/subscription`, { signal }),
  })
}

export function changeTier(orgId: string, tier: string): Promise<OrganizationSubscription> {
  return call('PUT', `/api/v1/organizations/${orgId}/subscription`, { body: { tier } })
}

/** Returns the payment provider's page for payment methods and invoices. */
export function openBillingPortal(orgId: string): Promise<BillingPortal> {
  return call('POST', `/api/v1/organizations/${orgId}/subscription/portal`)
}

/** Returns the URL of a file with the audit entries that match a query. */
export function auditExportUrl(orgId: string, query: ListQuery, format: 'csv' | 'jsonl'): string {
  return `/api/v1/organizations/${orgId}/audit-log/export${queryText({ ...query, format })}`
}

export function auditLogQuery(orgId: string, query: ListQuery) {
  return listOptions<ListedAuditEntry>(['audit-log', orgId], `/api/v1/organizations/${orgId}/audit-log`, query)
}

const streamOf = (orgId: string) => `/api/v1/organizations/${orgId}/audit-stream`

export function auditStreamQuery(orgId: string) {
  return queryOptions({
    queryKey: ['audit-stream', orgId],
    queryFn: ({ signal }) => call<AuditStream>('GET', streamOf(orgId), { signal }),
    refetchInterval: 5_000,
  })
}

export function putAuditStream(orgId: string, body: { url: string }): Promise<AuditStream> {
  return call('PUT', streamOf(orgId), { body })
}

export function deleteAuditStream(orgId: string): Promise<void> {
  return call('DELETE', streamOf(orgId))
}

export function rotateAuditStreamSecret(orgId: string): Promise<AuditStream> {
  return call('POST', `${streamOf(orgId)}/rotate`)
}
