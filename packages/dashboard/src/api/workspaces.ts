import type { ApiKey, CreateApiKeyBody, NewApiKey, Workspace, WorkspaceMember } from '@belfry/contract'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { listOptions, readAll } from './page.ts'

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

export function apiKeysQuery(workspaceId: string) {
  return listOptions<ApiKey>(['api-keys', workspaceId], `/api/v1/workspaces/${workspaceId}/api-keys`)
}

export function createApiKey(workspaceId: string, body: CreateApiKeyBody | { name: string }): Promise<NewApiKey> {
  return call('POST', `/api/v1/workspaces/${workspaceId}/api-keys`, { body })
}
