import { AppError, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { noContent } from '../http/reply.ts'
import { requireGrantable } from './require-grantable.ts'

export const revokeInvitation = endpoint({
  right: 'invitation.revoke',
  summary: 'Revoke an invitation; its link stops working',
  answer: { status: 204 },
  refusals: ['invitation_used'],
  params: { org: 'org', inv: 'inv' },
  async handle(ctx, { caller, params: { inv: id } }) {
    const { organizationId } = caller
    await ctx.prisma.$transaction(async tx => {
      const row = await tx.invitation.findFirst({ where: { id, organizationId } })
      if (!row) throw notFound()
      requireGrantable(caller.actor, row.role)
      const open = { id, organizationId, acceptedAt: null, revokedAt: null }
      const { count } = await tx.invitation.updateMany({
        where: open,
        data: { revokedAt: new Date(ctx.clock.now()) },
      })
      const details = { email: row.email }
      if (count > 0) await audit(tx, caller, { action: 'invitation.revoked', objectId: toId('inv', id), details })
      else if (await tx.invitation.findFirst({ where: { id, organizationId, acceptedAt: { not: null } } })) {
        throw new AppError('invitation_used', 'The invitation has been accepted: remove the member instead.')
      }
    })
    return noContent()
  },
})
