import type { Role, WorkspaceRole } from '@belfry/domain/permissions'

export const roleMeanings: Record<Role, string> = {
  owner: 'Full access, including billing.',
  admin: 'Manages members, workspaces and the policy, but not billing.',
  member: 'Works in assigned workspaces, as the policy allows.',
}

export const workspaceRoleMeanings: Record<WorkspaceRole, string> = {
  viewer: 'Can view everything in the workspace.',
  editor: 'Can also create, change, pause and replay tasks and cron jobs.',
}
