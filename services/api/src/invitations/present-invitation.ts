import type { Invitation } from '@belfry/contract/invitation'
import type { Invitation as StoredInvitation } from '@belfry/db/generated/client'
import { toId } from '@belfry/domain/id'

export type InvitationRow = Omit<StoredInvitation, 'tokenHash' | 'invitedBy'>

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
