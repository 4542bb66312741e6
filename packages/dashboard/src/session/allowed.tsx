import type { OrganizationPolicy } from '@belfry/contract/organization'
import { type Action, type Decision, decide, type Policy } from '@belfry/domain/permissions'
import { Lock } from 'lucide-react'
import type { ReactNode } from 'react'
import { EmptyState } from '../ui/empty-state.tsx'
import { useOrganization, useWorkspaceRole } from './scope.ts'

/**
 * Returns a function that decides whether the signed-in user may perform an action, and if not, why. The API uses the same
 * table.
 * @param workspaceId - Default: the workspace in the URL.
 */
export function useRights(workspaceId?: string): { can(action: Action): Decision } {
  const { organization, role, workspace } = useOrganization()
  const workspaceRole = useWorkspaceRole(role, workspaceId ?? workspace?.id)
  const policy = toPolicy(organization.policy)
  return { can: action => decide({ kind: 'user', role, policy, workspaceRole }, action) }
}

/** Returns why the signed-in user may not perform an action here, or null. For `refusal` of buttons and menu items. */
export function useRefusal(action: Action): string | null {
  const decision = useRights().can(action)
  return decision.allowed ? null : decision.reason
}

/** Passes its children why the user may not perform an action, or null. Without an action there is no reason. */
export function Refusal({ of, children }: { of: Action | undefined; children: Decided }): ReactNode {
  return of ? <Refused of={of}>{children}</Refused> : children(null)
}

type Decided = (refusal: string | null) => ReactNode

function Refused({ of, children }: { of: Action; children: Decided }): ReactNode {
  return children(useRefusal(of))
}

type PageForProps = {
  right: Action
  /** Whether the children contain the header of the page. */
  isWhole?: boolean
  children: ReactNode
}

/** Renders a page for users with a right. Others see why they lack it. */
export function PageFor({ right, isWhole, children }: PageForProps): ReactNode {
  const refusal = useRefusal(right)
  if (refusal === null) return children
  return (
    <EmptyState isPage={isWhole} icon={Lock} title="You do not have access to this page">
      {refusal}
    </EmptyState>
  )
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
