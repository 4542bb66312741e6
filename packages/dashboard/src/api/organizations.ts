import type { Organization, UpdateOrganizationBody } from '@belfry/contract'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

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
