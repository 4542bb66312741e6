import type { Role, WorkspaceRole } from '@belfry/domain/permissions'

export const roleNames: Record<Role, string> = { owner: 'Owner', admin: 'Admin', member: 'Member' }

export const roleMeanings: Record<Role, string> = {
  owner: 'Everything, billing too.',
  admin: 'Members, workspaces and policy; no billing.',
  member: 'The workspaces they belong to, as the policy allows.',
}

export const workspaceRoleNames: Record<WorkspaceRole, string> = { viewer: 'Viewer', editor: 'Editor' }

export const workspaceRoleMeanings: Record<WorkspaceRole, string> = {
  viewer: 'Reads everything in the workspace.',
  editor: 'Also creates, changes, pauses and replays tasks and cron jobs.',
}
