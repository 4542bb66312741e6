import type { Organization, Workspace } from '@belfry/contract'
import type { Role, WorkspaceRole } from '@belfry/domain/permissions'
import { type QueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { type LoaderFunctionArgs, useParams } from 'react-router'
import { ApiProblem } from '../api/api-problem.ts'
import { organizationQuery } from '../api/organizations.ts'
import { meQuery } from '../api/session.ts'
import { workspaceMembersQuery, workspacesQuery } from '../api/workspaces.ts'
import { paths, type WorkspacePaths } from '../paths.ts'

/** Reads what every page of an organization needs, before it is shown. */
export function loadOrganization(client: QueryClient) {
  return async ({ params }: LoaderFunctionArgs): Promise<null> => {
    const me = await client.ensureQueryData(meQuery)
    const organization = me.organizations.find(({ slug }) => slug === params.slug)
    if (!organization)
      throw new ApiProblem(404, { detail: 'There is no such organization, or you do not belong to it.' })
    await Promise.all([
      client.ensureQueryData(organizationQuery(organization.id)),
      client.ensureQueryData(workspacesQuery(organization.id)),
    ])
    return null
  }
}

/** Reads what every page of a workspace needs, before it is shown. */
export function loadWorkspace(client: QueryClient) {
  return async (args: LoaderFunctionArgs): Promise<null> => {
    await loadOrganization(client)(args)
    const { slug, ws = '' } = args.params
    const me = await client.ensureQueryData(meQuery)
    const organization = me.organizations.find(one => one.slug === slug)
    const workspaces = await client.ensureQueryData(workspacesQuery(organization?.id ?? ''))
    if (!workspaces.some(({ id }) => id === ws)) {
      throw new ApiProblem(404, { detail: 'There is no such workspace, or you do not belong to it.' })
    }
    if (organization?.role === 'member') await client.ensureQueryData(workspaceMembersQuery(ws))
    return null
  }
}

export type OrganizationScope = {
  organization: Organization
  role: Role
  workspaces: Workspace[]
  workspace: Workspace | undefined
}

/** The organization that the address names, and the workspace where it names one. */
export function useOrganization(): OrganizationScope {
  const { slug, ws } = useParams()
  const { data: me } = useSuspenseQuery(meQuery)
  const own = me.organizations.find(one => one.slug === slug)
  if (!own) throw new ApiProblem(404, { detail: 'There is no such organization, or you do not belong to it.' })
  const { data: organization } = useSuspenseQuery(organizationQuery(own.id))
  const { data: workspaces } = useSuspenseQuery(workspacesQuery(own.id))
  return { organization, role: own.role, workspaces, workspace: workspaces.find(({ id }) => id === ws) }
}

/** The workspace that the address names, and the addresses in it. */
export function useWorkspace(): { workspace: Workspace; to: WorkspacePaths } {
  const { organization, workspace } = useOrganization()
  if (!workspace) throw new ApiProblem(404, { detail: 'There is no such workspace, or you do not belong to it.' })
  return { workspace, to: paths.workspace(organization.slug, workspace.id) }
}

/** What the signed-in user is in a workspace; null for owners and admins, who need not belong to it. */
export function useWorkspaceRole(role: Role, workspaceId: string | undefined): WorkspaceRole | null {
  const { data: me } = useSuspenseQuery(meQuery)
  const isNeeded = role === 'member' && workspaceId !== undefined
  const { data: members } = useSuspenseQuery(
    isNeeded ? workspaceMembersQuery(workspaceId) : { queryKey: ['no-members'], queryFn: () => [] },
  )
  return members.find(({ user }) => user.id === me.user.id)?.role ?? null
}
