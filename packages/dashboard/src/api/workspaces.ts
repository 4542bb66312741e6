import type { WorkspaceMember } from '@belfry/contract/member'
import type { Workspace } from '@belfry/contract/workspace'
import type { WorkspaceRole } from '@belfry/domain/permissions'
import { queryOptions } from '@tanstack/react-query'
import { patch, post, put, remove } from './operation.ts'
import { allOptions } from './page.ts'

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

type WorkspaceChange = { name?: string; keeps_responses_with_secrets?: boolean; asymmetric_signatures?: boolean }

export const createWorkspace = post('/api/v1/organizations/:org/workspaces')<Workspace, { name: string }>
export const updateWorkspace = patch('/api/v1/workspaces/:ws')<Workspace, WorkspaceChange>
export const deleteWorkspace = remove('/api/v1/workspaces/:ws')<void>

/** Adds a member with the given role, or with the default role of their membership. */
export const putWorkspaceMember = put('/api/v1/workspaces/:ws/members/:user')<WorkspaceMember, { role?: WorkspaceRole }>
export const removeWorkspaceMember = remove('/api/v1/workspaces/:ws/members/:user')<void>
