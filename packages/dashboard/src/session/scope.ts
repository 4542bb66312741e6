import type { Organization, OrganizationPolicy } from '@belfry/contract/organization'
import type { Workspace } from '@belfry/contract/workspace'
import {
  type Action,
  type Decision,
  decide,
  flagName,
  type Policy,
  policyFlags,
  type Role,
  type WorkspaceRole,
} from '@belfry/domain/permissions'
import { type QueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { type LoaderFunctionArgs, useParams } from 'react-router'
import { ApiProblem } from '../api/api-problem.ts'
import { allOf, queryOf } from '../api/queries.ts'
import { paths, type WorkspacePaths } from '../paths.ts'

/** Loads the data that every page of an organization needs, and of a workspace if the URL contains one. */
export function loadScope(client: QueryClient) {
  return async ({ params: { slug, ws } }: LoaderFunctionArgs) => {
    const me = await client.ensureQueryData(queryOf('getMe'))
    const own = me.organizations.find(one => one.slug === slug)
    if (!own) throw notFound('organization')
    const [workspaces] = await Promise.all([
      client.ensureQueryData(allOf('listWorkspaces', { org: own.id })),
      client.ensureQueryData(queryOf('getOrganization', { org: own.id })),
    ])
    if (ws === undefined) return
    if (!workspaces.some(({ id }) => id === ws)) throw notFound('workspace')
    if (own.role === 'member') await client.ensureQueryData(allOf('listWorkspaceMembers', { ws }))
  }
}

/** Returns the organization in the URL, and the workspace if the URL contains one. */
export function useOrganization() {
  const { slug, ws } = useParams()
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
  const own = me.organizations.find(one => one.slug === slug)
  if (!own) throw notFound('organization')
  const { data: organization } = useSuspenseQuery(queryOf('getOrganization', { org: own.id }))
  const { data: workspaces } = useSuspenseQuery(allOf('listWorkspaces', { org: own.id }))
  return {
    organization: organization as Organization, // only API keys get a summary
    role: own.role,
    workspaces,
    workspace: workspaces.find(({ id }) => id === ws),
  }
}

/** Returns the workspace in the URL, and its paths. */
export function useWorkspace(): { workspace: Workspace; to: WorkspacePaths } {
  const { organization, workspace } = useOrganization()
  if (!workspace) throw notFound('workspace')
  return { workspace, to: paths.workspace(organization.slug, workspace.id) }
}

/**
 * Returns a function that decides whether the signed-in user may perform an action, and if not, why. The API uses the same
 * table.
 * @param workspaceId - Default: the workspace in the URL.
 */
export function useRights(workspaceId?: string): { can(action: Action): Decision } {
  const { organization, role, workspace } = useOrganization()
  const workspaceRole = useWorkspaceRole(role, workspaceId ?? workspace?.id)
  const flags = policyFlags.map(flag => [flag, organization.policy[flagName(flag) as keyof OrganizationPolicy]])
  const policy: Policy = Object.fromEntries(flags)
  return { can: action => decide({ kind: 'user', role, policy, workspaceRole }, action) }
}

/** Returns why the signed-in user may not perform an action here, or null. For `refusal` of buttons and menu items. */
export function useRefusal(action: Action): string | null {
  const decision = useRights().can(action)
  return decision.allowed ? null : decision.reason
}

/** Returns the role of the user in a workspace, or null for owners and admins: they need not be its members. */
function useWorkspaceRole(role: Role, workspaceId: string | undefined): WorkspaceRole | null {
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
  const isNeeded = role === 'member' && workspaceId !== undefined
  const { data: members } = useSuspenseQuery(
    isNeeded ? allOf('listWorkspaceMembers', { ws: workspaceId }) : { queryKey: ['no-members'], queryFn: () => [] },
  )
  return members.find(({ user }) => user.id === me.user.id)?.role ?? null
}

function notFound(what: 'organization' | 'workspace'): ApiProblem {
  return new ApiProblem(404, { detail: `This ${what} does not exist, or you are not a member of it.` })
}
