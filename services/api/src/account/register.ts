import { registerBody, signedIn } from '@belfry/contract/auth'
import { isUniqueViolation } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { newUuid } from '@belfry/domain/id'
import { callerAddress } from '../auth/caller-address.ts'
import { consumeRegistration } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { mustConfirmEmail, storeConfirmationMail } from './email-confirmation.ts'
import { hashPassword } from './password.ts'
import { requirePasswordLogin } from './password-login.ts'
import { hasAccountsForUpdate, requireOpenRegistration } from './registration.ts'
import { startSession } from './start-session.ts'

export const register = endpoint({
  right: 'public',
  summary: 'Create an account',
  answer: { status: 201, body: signedIn, setsCookie: true },
  refusals: ['email_taken', 'registration_closed', 'rate_limited', 'password_login_off'],
  body: registerBody,
  async handle(ctx, { body, request }) {
    requirePasswordLogin(ctx)
    await consumeRegistration(ctx, callerAddress(request))
    const email = body.email.toLowerCase()
    requireOpenRegistration(ctx.config, email, await hasAccounts(ctx)) // before the expensive hash
    const passwordHash = await hashPassword(body.password)
    const session = await ctx.prisma
      .$transaction(async tx => {
        const isFirst = !(await hasAccountsForUpdate(tx))
        requireOpenRegistration(ctx.config, email, !isFirst)
        // The first account belongs to the operator, who may not have set up the mail server yet.
        const emailConfirmedAt = isFirst ? new Date(ctx.clock.now()) : null
        const data = { id: newUuid(), email, name: body.name, passwordHash, emailConfirmedAt }
        const user = await tx.user.create({ data })
        if (mustConfirmEmail(ctx, user)) await storeConfirmationMail(ctx, tx, user)
        return startSession(ctx, tx, user, request)
      })
      .catch(error => {
        throw isUniqueViolation(error)
          ? new AppError('email_taken', 'An account with this email already exists.')
          : error
      })
    return { status: 201, ...session }
  },
})

async function hasAccounts({ prisma }: Context): Promise<boolean> {
  return (await prisma.user.findFirst({ select: { id: true } })) !== null
}
