import type { OrganizationPolicy } from '@belfry/contract/organization'
import {
  type Action,
  type Decision,
  decide,
  type Policy,
  type Role,
  type WorkspaceRole,
} from '@belfry/domain/permissions'
import { useOrganization, useWorkspaceRole } from './scope.ts'

export type Rights = {
  role: Role
  /** Null outside a workspace, and for owners and admins. */
  workspaceRole: WorkspaceRole | null
  policy: OrganizationPolicy
  /** Decides whether the user may perform an action, and if not, why. The API uses the same table. */
  can(action: Action): Decision
}

/** Returns the rights of the signed-in user in the organization, and in a workspace. Default: the one in the URL. */
export function useRights(workspaceId?: string): Rights {
  const { organization, role, workspace } = useOrganization()
  const workspaceRole = useWorkspaceRole(role, workspaceId ?? workspace?.id)
  const policy = toPolicy(organization.policy)
  return {
    role,
    workspaceRole,
    policy: organization.policy,
    can: action => decide({ kind: 'user', role, policy, workspaceRole }, action),
  }
}

function toPolicy(flags: OrganizationPolicy): Policy {
  return {
    membersCanInvite: flags.members_can_invite,
    membersCanCreateApiKeys: flags.members_can_create_api_keys,
    membersCanCreateSecrets: flags.members_can_create_secrets,
    membersCanCreateWorkspaces: flags.members_can_create_workspaces,
    membersCanDeleteTasks: flags.members_can_delete_tasks,
    membersCanManageIntegrations: flags.members_can_manage_integrations,
  }
}
