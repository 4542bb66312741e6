import { toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { noContent } from '../http/reply.ts'
import { changeMembership, requireAnotherOwner } from './change-membership.ts'

// Every member may leave. Removing another member requires `member.manage`, which `changeMembership` checks.
export const removeMember = endpoint({
  right: 'member.leave',
  summary: 'Remove a member from an organization and its workspaces, or leave it',
  answer: { status: 204 },
  refusals: ['last_owner'],
  params: { org: 'org', user: 'user' },
  async handle(ctx, { caller, params: { user: userId } }) {
    const { organizationId } = caller
    await changeMembership(ctx, caller, userId, async (tx, present) => {
      await requireAnotherOwner(tx, present)
      await tx.workspaceMember.deleteMany({ where: { userId, workspace: { organizationId } } })
      await tx.membership.delete({ where: { organizationId_userId: { organizationId, userId } } })
      const action = userId === caller.user.userId ? 'member.left' : 'member.removed'
      await audit(tx, caller, { action, objectId: toId('user', userId), details: { role: present.role } })
    })
    return noContent()
  },
})
