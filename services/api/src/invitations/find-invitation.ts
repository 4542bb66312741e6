import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { hashOneTimeToken } from '../auth/one-time-token.ts'
import { notFound } from '../http/refusals.ts'
import { type InvitationRow, statusOf } from './present-invitation.ts'

/** Finds the open invitation of a token. Throws `not_found`, or the reason why it cannot be accepted. */
export async function findInvitation(tx: Pick<PrismaTransaction, 'invitation'>, token: string, now: number) {
  const tokenHash = hashOneTimeToken(token)
  const row = await tx.invitation.findUnique({
    where: { tokenHash, organization: { deletedAt: null } },
    include: { organization: true, inviter: { select: { name: true } } },
  })
  if (!row) throw notFound()
  requireOpen(row, now)
  return row
}

/** Throws the reason when an invitation cannot be accepted. */
export function requireOpen(row: InvitationRow, now: number): void {
  switch (statusOf(row, now)) {
    case 'accepted':
      throw new AppError('invitation_used', 'This invitation has already been accepted.')
    case 'revoked':
      throw revoked()
    case 'expired':
      throw new AppError('invitation_expired', 'This invitation has expired: request a new one.')
    case 'pending':
  }
}

/** The refusal of an invitation that was revoked, or whose inviter may no longer invite. */
export function revoked(): AppError {
  return new AppError('invitation_revoked', 'This invitation is no longer valid: request a new one.')
}
