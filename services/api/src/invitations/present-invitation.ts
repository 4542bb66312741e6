import type { Invitation } from '@belfry/contract/invitation'
import { toId } from '@belfry/domain/id'
import type { Role, WorkspaceRole } from '@belfry/domain/permissions'

export type InvitationRow = {
  id: string
  organizationId: string
  email: string
  role: Role
  workspaceRole: WorkspaceRole
  workspaceIds: string[]
  createdAt: Date
  expiresAt: Date
  acceptedAt: Date | null
  revokedAt: Date | null
}

/** Selects the shown columns of the user who invited. */
export const inviter = { select: { id: true, name: true } } as const

export function presentInvitation(
  row: InvitationRow & { inviter: { id: string; name: string } },
  now: number,
): Invitation {
  return {
    id: toId('inv', row.id),
    organization_id: toId('org', row.organizationId),
    email: row.email,
    role: row.role,
    workspace_role: row.workspaceRole,
    workspace_ids: row.workspaceIds.map(id => toId('ws', id)),
    status: statusOf(row, now),
    invited_by: { id: toId('user', row.inviter.id), name: row.inviter.name },
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  }
}

export function statusOf(
  { acceptedAt, revokedAt, expiresAt }: Pick<InvitationRow, 'acceptedAt' | 'revokedAt' | 'expiresAt'>,
  now: number,
): Invitation['status'] {
  if (acceptedAt) return 'accepted'
  if (revokedAt) return 'revoked'
  return expiresAt.getTime() > now ? 'pending' : 'expired'
}
