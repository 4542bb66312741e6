import type { PrismaTransaction } from '@belfry/db/prisma'
import { AppError, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { noContent } from '../http/reply.ts'
import { lockOrganization } from './lock-organization.ts'

export const deleteOrganization = endpoint({
  right: 'organization.delete',
  summary: 'Delete an organization that has no workspace left',
  answer: { status: 204 },
  refusals: ['conflict'],
  params: { org: 'org' },
  async handle(ctx, { caller }) {
    const id = caller.organizationId
    await ctx.prisma.$transaction(async tx => {
      await lockOrganization(tx, id)
      const workspaces = await tx.workspace.count({ where: { organizationId: id, deletedAt: null } })
      if (workspaces > 0) throw new AppError('conflict', 'Delete the workspaces of the organization first.')
      await refuseWhilePaid(tx, id)
      const { name, slug } = await tx.organization.findUniqueOrThrow({ where: { id } })
      // Without members the organization is invisible, and the scheduler removes it. Its slug is free again.
      await tx.organization.update({ where: { id }, data: { deletedAt: new Date(ctx.clock.now()), slug: id } })
      await tx.membership.deleteMany({ where: { organizationId: id } })
      await tx.workspaceMember.deleteMany({ where: { workspace: { organizationId: id } } })
      await audit(tx, caller, {
        action: 'organization.deleted',
        objectId: toId('org', id),
        details: { name, slug },
      })
    })
    return noContent()
  },
})

// A subscription that renews would be paid for nothing. A subscription that ends with its period is harmless.
async function refuseWhilePaid(tx: PrismaTransaction, organizationId: string): Promise<void> {
  const status = { in: ['active', 'trialing', 'past_due', 'unpaid'] }
  const account = await tx.billingAccount.findFirst({ where: { organizationId, status }, select: { nextTier: true } })
  if (account && account.nextTier !== 'free')
    throw new AppError('conflict', 'Cancel the subscription first: choose the tier free.')
}
