import type { WorkspaceMember } from '@belfry/contract/member'
import type { Workspace } from '@belfry/contract/workspace'
import type { WorkspaceRole } from '@belfry/domain/permissions'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { readAll } from './page.ts'

/** All workspaces of an organization that the signed-in user sees. */
export function workspacesQuery(orgId: string) {
  return queryOptions({
    queryKey: ['workspaces', orgId],
    queryFn: ({ signal }) => readAll<Workspace>(`/api/v1/organizations/${orgId}/workspaces`, signal),
    staleTime: 30_000,
  })
}

export function createWorkspace(orgId: string, body: { name: string }): Promise<Workspace> {
  return call('POST', `/api/v1/organizations/${orgId}/workspaces`, { body })
}

export function workspaceMembersQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['workspace-members', workspaceId],
    queryFn: ({ signal }) => readAll<WorkspaceMember>(`/api/v1/workspaces/${workspaceId}/members`, signal),
    staleTime: 30_000,
  })
}

export function updateWorkspace(
  workspaceId: string,
  body: { name?: string; keeps_responses_with_secrets?: boolean; asymmetric_signatures?: boolean },
): Promise<Workspace> {
  return call('PATCH', `/api/v1/workspaces/${workspaceId}`, { body })
}

export function deleteWorkspace(workspaceId: string): Promise<void> {
  return call('DELETE', `/api/v1/workspaces/${workspaceId}`)
}

/** Adds a member with the default role of their membership, or with the given one. */
export function putWorkspaceMember(
  workspaceId: string,
  userId: string,
  role?: WorkspaceRole,
): Promise<WorkspaceMember> {
  return call('PUT', `/api/v1/workspaces/${workspaceId}/members/${userId}`, { body: role ? { role } : {} })
}

export function removeWorkspaceMember(workspaceId: string, userId: string): Promise<void> {
  return call('DELETE', `/api/v1/workspaces/${workspaceId}/members/${userId}`)
}
