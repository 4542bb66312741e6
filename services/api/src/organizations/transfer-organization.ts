import { member } from '@belfry/contract/member'
import { transferOrganizationBody } from '@belfry/contract/organization'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import type { Role } from '@belfry/domain/permissions'
import { audit } from '../audit/audit.ts'
import { requireStepUp } from '../auth/second-factors.ts'
import { endpoint } from '../endpoint.ts'
import { invalid, notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'
import { lockOrganization } from './lock-organization.ts'
import { memberUser, presentMember } from './members.ts'

export const transferOrganization = endpoint({
  right: 'organization.transfer',
  summary: 'Make another member an owner in place of the caller, who stays as an admin',
  answer: { status: 200, body: member },
  refusals: ['step_up_required'],
  params: { org: 'org' },
  body: transferOrganizationBody,
  async handle(ctx, { caller, body }) {
    const { organizationId, user } = caller
    await requireStepUp(ctx, user)
    if (body.user_id === user.userId) throw alreadyYours()
    const row = await ctx.prisma.$transaction(async tx => {
      await lockOrganization(tx, organizationId)
      const own = await tx.membership.findFirst({ where: { organizationId, userId: user.userId, role: 'owner' } })
      if (!own) throw new AppError('forbidden', 'This requires the role owner.') // lost meanwhile
      const next = await tx.membership.findFirst({ where: { organizationId, userId: body.user_id } })
      if (!next) throw notFound()
      const setRole = async (userId: string, from: Role, role: Role) => {
        const details = { from, to: role, transfer: true }
        if (from !== role)
          await audit(tx, caller, { action: 'member.role_changed', objectId: toId('user', userId), details })
        const where = { organizationId_userId: { organizationId, userId } }
        return tx.membership.update({ where, data: { role }, include: { user: memberUser } })
      }
      await setRole(user.userId, 'owner', 'admin')
      return setRole(next.userId, next.role, 'owner')
    })
    return ok(presentMember(row))
  },
})

function alreadyYours(): AppError {
  return invalid('body', [{ path: 'user_id', code: 'own_user', message: 'user_id must be another member.' }])
}
