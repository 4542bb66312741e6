import type { Member, WorkspaceMember } from '@belfry/contract'
import { type Role, toId, type WorkspaceRole } from '@belfry/domain'

/** Selects the columns of a user that other members may see. */
export const memberUser = { select: { id: true, email: true, name: true } } as const

type UserRow = { id: string; email: string; name: string }

type MemberRow = { user: UserRow; role: Role; workspaceRole: WorkspaceRole; joinedAt: Date }

export function presentMember({ user, role, workspaceRole, joinedAt }: MemberRow): Member {
  return { user: presentMemberUser(user), role, workspace_role: workspaceRole, joined_at: joinedAt.toISOString() }
}

export function presentWorkspaceMember(row: { user: UserRow; role: WorkspaceRole; createdAt: Date }): WorkspaceMember {
  return { user: presentMemberUser(row.user), role: row.role, added_at: row.createdAt.toISOString() }
}

function presentMemberUser({ id, email, name }: UserRow): Member['user'] {
  return { id: toId('user', id), email, name }
}
