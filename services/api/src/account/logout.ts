import { recordAccountEntry } from '@belfry/db/account-log'
import { noSessionCookie } from '../auth/cookies.ts'
import { endpoint } from '../endpoint.ts'

export const logout = endpoint({
  right: 'signed_in',
  summary: 'End this session',
  answer: { status: 204, setsCookie: true },
  async handle(ctx, { caller }) {
    const { userId, sessionId, address } = caller
    await ctx.prisma.$transaction(async tx => {
      const { count } = await tx.session.deleteMany({ where: { id: sessionId, userId } })
      if (count > 0) await recordAccountEntry(tx, { userId, action: 'signed_out', address })
    })
    return { status: 204, headers: { 'Set-Cookie': noSessionCookie(ctx) } }
  },
})
