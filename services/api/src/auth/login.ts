import { loginBody, signedIn } from '@belfry/contract'
import { AppError } from '@belfry/domain'
import { endpoint } from '../http/endpoint.ts'
import { isPassword } from './password.ts'
import { startSession } from './start-session.ts'

export const login = endpoint({
  right: 'public',
  summary: 'Sign in',
  answer: { status: 200, body: signedIn },
  refusals: ['unauthenticated'],
  body: loginBody,
  async handle(ctx, { body }) {
    const user = await ctx.prisma.user.findUnique({ where: { email: body.email.toLowerCase() } })
    const matches = await isPassword(body.password, user?.passwordHash ?? null)
    if (!user || !matches) throw new AppError('unauthenticated', 'The e-mail or the password is wrong.')
    return { status: 200, ...(await startSession(ctx, user)) }
  },
})
