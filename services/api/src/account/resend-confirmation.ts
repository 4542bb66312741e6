import { mayGetConfirmationMail } from '../auth/throttle.ts'
import { endpoint } from '../endpoint.ts'
import { mustConfirmEmail, storeConfirmationMail } from './email-confirmation.ts'

export const resendConfirmation = endpoint({
  right: 'signed_in',
  summary: 'Send another link that confirms the email address, unless it is confirmed',
  answer: { status: 202 },
  async handle(ctx, { caller }) {
    const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: caller.userId } })
    if (mustConfirmEmail(ctx, user) && (await mayGetConfirmationMail(ctx, user.email))) {
      await ctx.prisma.$transaction(tx => storeConfirmationMail(ctx, tx, user))
    }
    return { status: 202 }
  },
})
