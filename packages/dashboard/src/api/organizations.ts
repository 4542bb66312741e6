import type { ListedAuditEntry } from '@belfry/contract/audit-entry'
import type { AuditStream } from '@belfry/contract/audit-stream'
import type { Member, WorkspaceMember } from '@belfry/contract/member'
import type { Organization, UpdateOrganizationBody } from '@belfry/contract/organization'
import type { BillingPortal, OrganizationSubscription } from '@belfry/contract/tier'
import type { Usage } from '@belfry/contract/usage'
import type { Workspace } from '@belfry/contract/workspace'
import type { Role, WorkspaceRole } from '@belfry/domain/permissions'
import { queryOptions } from '@tanstack/react-query'
import { queryText } from './call.ts'
import { patch, post, put, remove } from './operation.ts'
import { allOptions, type ListQuery, listOptions, objectOptions } from './page.ts'

export function organizationQuery(orgId: string) {
  const read = objectOptions<Organization>(['organization', orgId], `/api/v1/organizations/${orgId}`)
  return queryOptions({ ...read, staleTime: 30_000 })
}

export const createOrganization = post('/api/v1/organizations')<Organization, { name: string }>
export const updateOrganization = patch('/api/v1/organizations/:org')<Organization, UpdateOrganizationBody>
export const deleteOrganization = remove('/api/v1/organizations/:org')<void>

/** Makes another member an owner in place of the signed-in user. */
export const transferOrganization = post('/api/v1/organizations/:org/transfer')<Member, { user_id: string }>

export function usageQuery(orgId: string) {
  const read = objectOptions<Usage>(['usage', orgId], `/api/v1/organizations/${orgId}/usage`)
  return queryOptions({ ...read, refetchInterval: 15_000 })
}

export function tierQuery(orgId: string) {
  return objectOptions<OrganizationSubscription>(['tier', orgId], `/api/v1/organizations/${orgId}/subscription`)
}

export const changeTier = put('/api/v1/organizations/:org/subscription')<OrganizationSubscription, { tier: string }>

/** Returns the payment provider's page for payment methods and invoices. */
export const openBillingPortal = post('/api/v1/organizations/:org/subscription/portal')<BillingPortal>

/** Returns the URL of a file with the audit entries that match a query. */
export function auditExportUrl(orgId: string, query: ListQuery, format: 'csv' | 'jsonl'): string {
  return `/api/v1/organizations/${orgId}/audit-log/export${queryText({ ...query, format })}`
}

export function auditLogQuery(orgId: string, query: ListQuery) {
  return listOptions<ListedAuditEntry>(['audit-log', orgId], `/api/v1/organizations/${orgId}/audit-log`, query)
}

export function auditStreamQuery(orgId: string) {
  const read = objectOptions<AuditStream>(['audit-stream', orgId], `/api/v1/organizations/${orgId}/audit-stream`)
  return queryOptions({ ...read, refetchInterval: 5_000 })
}

export const putAuditStream = put('/api/v1/organizations/:org/audit-stream')<AuditStream, { url: string }>
export const deleteAuditStream = remove('/api/v1/organizations/:org/audit-stream')<void>
export const rotateAuditStreamSecret = post('/api/v1/organizations/:org/audit-stream/rotate')<AuditStream>

export function membersQuery(orgId: string) {
  return listOptions<Member>(['members', orgId], `/api/v1/organizations/${orgId}/members`, { limit: 100 })
}

export const updateMember = patch('/api/v1/organizations/:org/members/:user')<Member, { role: Role }>
export const removeMember = remove('/api/v1/organizations/:org/members/:user')<void>

/** All workspaces of an organization that the signed-in user sees. */
export function workspacesQuery(orgId: string) {
  const read = allOptions<Workspace>(['workspaces', orgId], `/api/v1/organizations/${orgId}/workspaces`)
  return queryOptions({ ...read, staleTime: 30_000 })
}

export function workspaceMembersQuery(workspaceId: string) {
  const read = allOptions<WorkspaceMember>(
    ['workspace-members', workspaceId],
    `/api/v1/workspaces/${workspaceId}/members`,
  )
  return queryOptions({ ...read, staleTime: 30_000 })
}

type Settings = 'name' | 'keeps_responses_with_secrets' | 'asymmetric_signatures' | 'switch_off_after_days'
type WorkspaceChange = Partial<Pick<Workspace, Settings>>

export const createWorkspace = post('/api/v1/organizations/:org/workspaces')<Workspace, { name: string }>
export const updateWorkspace = patch('/api/v1/workspaces/:ws')<Workspace, WorkspaceChange>
export const deleteWorkspace = remove('/api/v1/workspaces/:ws')<void>

/** Adds a member with the given role, or with the default role of their membership. */
export const putWorkspaceMember = put('/api/v1/workspaces/:ws/members/:user')<WorkspaceMember, { role?: WorkspaceRole }>
export const removeWorkspaceMember = remove('/api/v1/workspaces/:ws/members/:user')<void>
