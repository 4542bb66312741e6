import { AppError } from '@belfry/domain'
import { type InvitationRow, statusOf } from './present-invitation.ts'

/** Refuses an invitation that cannot be accepted any more, and says why. */
export function requireOpen(row: InvitationRow, now: number): void {
  switch (statusOf(row, now)) {
    case 'accepted':
      throw new AppError('invitation_used', 'This invitation has been accepted already.')
    case 'revoked':
      throw revoked()
    case 'expired':
      throw new AppError('invitation_expired', 'This invitation has expired: ask for another one.')
    case 'pending':
  }
}

export function revoked(): AppError {
  return new AppError('invitation_revoked', 'This invitation is not good any more: ask for another one.')
}
