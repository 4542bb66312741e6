import { suspensionBody } from '@belfry/contract/operator'
import { recordAccountEntry } from '@belfry/db/account-log'
import { toId } from '@belfry/domain/id'
import { mailFactorChange } from '../account/account-mail.ts'
import { deleteFactors } from '../auth/second-factors.ts'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { noContent } from '../http/reply.ts'
import { recordOperatorAction } from '../operators/tenants.ts'

export const resetFactors = endpoint({
  right: 'operator',
  summary: 'Remove all second factors of a user who has lost them, and end the sessions of the user',
  answer: { status: 204 },
  params: { user: 'user' },
  body: suspensionBody,
  async handle(ctx, { caller, params: { user: id }, body }) {
    await ctx.prisma.$transaction(async tx => {
      const user = await tx.user.findUnique({ where: { id } })
      if (!user) throw notFound()
      if ((await deleteFactors(tx, id)) === 0) return
      await tx.session.deleteMany({ where: { userId: id } })
      const details = { ...body }
      await recordOperatorAction(tx, caller, { action: 'user.factors_reset', objectId: toId('user', id), details })
      await recordAccountEntry(tx, { userId: id, action: 'factors_reset', address: '', byOperator: true })
      const what =
        'The operator of this installation removed all second factors of your account. Your sessions have ended.'
      await mailFactorChange(ctx, tx, user, what, null)
    })
    return noContent()
  },
})
