import { endpoint } from '../http/endpoint.ts'
import { noSessionCookie } from './cookies.ts'

export const logout = endpoint({
  right: 'signed_in',
  summary: 'End this session',
  answer: { status: 204, setsCookie: true },
  async handle(ctx, { caller }) {
    await ctx.prisma.session.deleteMany({ where: { id: caller.sessionId, userId: caller.userId } })
    return { status: 204, headers: { 'Set-Cookie': noSessionCookie(ctx) } }
  },
})
