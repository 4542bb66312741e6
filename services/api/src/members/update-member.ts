import { member, updateMemberBody } from '@belfry/contract'
import { toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { changeMembership, requireAnotherOwner, requireRank } from './change-membership.ts'
import { memberUser, presentMember } from './present-member.ts'

export const updateMember = endpoint({
  right: 'member.manage',
  summary: 'Change the role of a member; only owners may add or remove owners',
  answer: { status: 200, body: member },
  refusals: ['last_owner'],
  params: { org: 'org', user: 'user' },
  body: updateMemberBody,
  async handle(ctx, { caller, params, body: { role } }) {
    const row = await changeMembership(ctx, caller, params.user, async (tx, present, own) => {
      requireRank(own, role)
      if (role !== 'owner') await requireAnotherOwner(tx, present)
      if (role !== present.role) {
        const details = { from: present.role, to: role }
        await audit(tx, caller, { action: 'member.role_changed', objectId: toId('user', params.user), details })
      }
      return tx.membership.update({
        where: { organizationId_userId: { organizationId: caller.organizationId, userId: params.user } },
        data: { role },
        include: { user: memberUser },
      })
    })
    return ok(presentMember(row))
  },
})
