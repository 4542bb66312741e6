import { registerBody, signedIn } from '@belfry/contract'
import { isUniqueViolation } from '@belfry/db/prisma'
import { AppError, newUuid } from '@belfry/domain'
import { endpoint } from '../http/endpoint.ts'
import { callerAddress } from './caller-address.ts'
import { hashPassword } from './password.ts'
import { startSession } from './start-session.ts'
import { consumeRegistration } from './throttle.ts'

export const register = endpoint({
  right: 'public',
  summary: 'Create an account',
  answer: { status: 201, body: signedIn, setsCookie: true },
  refusals: ['email_taken'],
  body: registerBody,
  async handle(ctx, { body, request }) {
    await consumeRegistration(ctx, callerAddress(request))
    const passwordHash = await hashPassword(body.password)
    const data = { id: newUuid(), email: body.email.toLowerCase(), name: body.name, passwordHash }
    const user = await ctx.prisma.user.create({ data }).catch(error => {
      throw isUniqueViolation(error)
        ? new AppError('email_taken', 'An account with this e-mail already exists.')
        : error
    })
    return { status: 201, ...(await startSession(ctx, ctx.prisma, user)) }
  },
})
