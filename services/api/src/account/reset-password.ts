import { resetPasswordBody } from '@belfry/contract/auth'
import { recordAccountEntry } from '@belfry/db/account-log'
import type { AppError } from '@belfry/domain/app-error'
import { callerAddress } from '../auth/caller-address.ts'
import { hashOneTimeToken } from '../auth/one-time-token.ts'
import { clearLoginAttempts, consumeReset } from '../auth/throttle.ts'
import { endpoint } from '../endpoint.ts'
import { invalid } from '../http/refusals.ts'
import { noContent } from '../http/reply.ts'
import { mailPasswordChange } from './account-mail.ts'
import { recordConfirmedEmail } from './email-confirmation.ts'
import { hashPassword } from './password.ts'
import { requirePasswordLogin } from './password-login.ts'

export const resetPassword = endpoint({
  right: 'public',
  summary: 'Choose a new password with the token of a link; all sessions of the user end',
  answer: { status: 204 },
  refusals: ['rate_limited', 'password_login_off'],
  body: resetPasswordBody,
  async handle(ctx, { body, request }) {
    requirePasswordLogin(ctx)
    await consumeReset(ctx, callerAddress(request))
    const tokenHash = hashOneTimeToken(body.token)
    const valid = { tokenHash, expiresAt: { gt: new Date(ctx.clock.now()) } }
    const reset = await ctx.prisma.passwordReset.findFirst({ where: valid })
    if (!reset) throw unknownToken()
    const { userId } = reset
    const passwordHash = await hashPassword(body.password)
    const { email } = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId }, select: { email: true } })
    await ctx.prisma.$transaction(async tx => {
      // Only one of several concurrent requests deletes it. Links that were sent before end, too.
      const { count } = await tx.passwordReset.deleteMany({ where: valid })
      if (count === 0) throw unknownToken()
      await tx.passwordReset.deleteMany({ where: { userId } })
      await tx.user.update({ where: { id: userId }, data: { passwordHash } })
      await tx.session.deleteMany({ where: { userId } })
      await tx.challenge.deleteMany({ where: { userId } }) // sign-ins with the old password
      await recordAccountEntry(tx, { userId, action: 'password_reset', address: callerAddress(request) })
      await recordConfirmedEmail(ctx, tx, userId)
      await mailPasswordChange(ctx, tx, { id: userId, email }, callerAddress(request))
    })
    await clearLoginAttempts(ctx, email)
    return noContent()
  },
})

function unknownToken(): AppError {
  const message = 'The link is unknown, was used, or is older than an hour. Request another one.'
  const errors = [{ path: 'token', code: 'invalid_token', message }]
  return invalid('body', errors)
}
