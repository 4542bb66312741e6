import { invitation } from '@belfry/contract'
import { AppError, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { newOneTimeToken } from '../auth/one-time-token.ts'
import { consumeInvitation } from '../auth/throttle.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'
import { revoked } from './find-invitation.ts'
import { inviter, presentInvitation } from './present-invitation.ts'
import { requireGrantable } from './require-grantable.ts'
import { invitationMs, storeInvitationMail } from './send-invitation.ts'

export const resendInvitation = endpoint({
  right: 'invitation.create',
  summary: 'Resend an invitation with a new link that is valid for seven days; the old link ends',
  answer: { status: 200, body: invitation },
  refusals: ['invitation_used', 'invitation_revoked', 'rate_limited'],
  params: { org: 'org', inv: 'inv' },
  async handle(ctx, { caller, params: { inv: id } }) {
    const { organizationId, user } = caller
    const found = await ctx.prisma.invitation.findFirst({ where: { id, organizationId } })
    if (!found) throw notFound()
    requireGrantable(caller.actor, found.role)
    await consumeInvitation(ctx, organizationId, found.email)
    const { token, tokenHash } = newOneTimeToken()
    const expiresAt = new Date(ctx.clock.now() + invitationMs)
    const row = await ctx.prisma.$transaction(async tx => {
      // The caller becomes the inviter, whose rights count when it is accepted.
      const data = { tokenHash, expiresAt, invitedBy: user.userId }
      const { count } = await tx.invitation.updateMany({
        where: { id, organizationId, acceptedAt: null, revokedAt: null },
        data,
      })
      const row = await tx.invitation.findUniqueOrThrow({ where: { id, organizationId }, include: { inviter } })
      if (count === 0 && row.acceptedAt) throw new AppError('invitation_used', 'The invitation has been accepted.')
      if (count === 0) throw revoked()
      await storeInvitationMail(ctx, tx, {
        organizationId,
        email: row.email,
        invitedBy: user.userId,
        token,
      })
      const details = { email: row.email }
      await audit(tx, caller, { action: 'invitation.resent', objectId: toId('inv', id), details })
      return row
    })
    return ok(presentInvitation(row, ctx.clock.now()))
  },
})
