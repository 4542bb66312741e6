import type { Role, WorkspaceRole } from '@belfry/domain/permissions'

export const roleNames: Record<Role, string> = { owner: 'Owner', admin: 'Admin', member: 'Member' }

export const roleMeanings: Record<Role, string> = {
  owner: 'Full access, including billing.',
  admin: 'Manages members, workspaces and the policy, but not billing.',
  member: 'Works in assigned workspaces, as the policy allows.',
}

export const workspaceRoleNames: Record<WorkspaceRole, string> = { viewer: 'Viewer', editor: 'Editor' }

export const workspaceRoleMeanings: Record<WorkspaceRole, string> = {
  viewer: 'Can view everything in the workspace.',
  editor: 'Can also create, change, pause and replay tasks and cron jobs.',
}
