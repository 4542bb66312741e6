import { setTimeout as sleep } from 'node:timers/promises'
import { operations } from '@belfry/contract/operations'
import { recordAccountEntry } from '@belfry/db/account-log'
import type { AppError } from '@belfry/domain/app-error'
import { passwordResetMail } from '@belfry/messages'
import { callerAddress } from '../auth/caller-address.ts'
import { hashOneTimeToken, newOneTimeToken } from '../auth/one-time-token.ts'
import { clearLoginAttempts, consumeReset } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { invalid } from '../http/refusals.ts'
import { mailPasswordChange, storeMail } from './account-mail.ts'
import { recordConfirmedEmail } from './email-confirmation.ts'
import { hashPassword, requirePasswordLogin } from './password.ts'

const resetMs = 3_600_000

// Longer than the work takes, so the response time does not reveal whether the account exists. When a busy machine takes
// longer, the response is sent at the next multiple.
const responseStepMs = 400

export const forgotPassword = endpoint(operations.forgotPassword, async (ctx, { body, request }) => {
  requirePasswordLogin(ctx)
  await consumeReset(ctx, callerAddress(request))
  const began = performance.now()
  await sendLink(ctx, body.email.toLowerCase(), callerAddress(request))
  await sleep(responseStepMs - ((performance.now() - began) % responseStepMs))
})

async function sendLink(ctx: Context, email: string, address: string): Promise<void> {
  const { token, tokenHash } = newOneTimeToken()
  const mail = passwordResetMail(email, `${ctx.config.publicUrl}/reset-password#${token}`)
  const link = { kind: 'reset', usefulMs: resetMs } as const
  await ctx.prisma.$transaction(async tx => {
    const user = await tx.user.findUnique({ where: { email }, select: { id: true } })
    if (!user) return
    if (!(await storeMail(ctx, tx, { ...user, email }, { label: 'password reset', mail, address, link }))) return
    const expiresAt = new Date(ctx.clock.now() + resetMs)
    await tx.passwordReset.create({ data: { tokenHash, userId: user.id, expiresAt } })
    await recordAccountEntry(tx, { userId: user.id, action: 'password_reset_requested', address })
  })
}

export const resetPassword = endpoint(operations.resetPassword, async (ctx, { body, request }) => {
  requirePasswordLogin(ctx)
  await consumeReset(ctx, callerAddress(request))
  const tokenHash = hashOneTimeToken(body.token)
  const valid = { tokenHash, expiresAt: { gt: new Date(ctx.clock.now()) } }
  const reset = await ctx.prisma.passwordReset.findFirst({ where: valid })
  if (!reset) throw unknownToken()
  const { userId } = reset
  const passwordHash = await hashPassword(body.password, callerAddress(request))
  const { email } = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId }, select: { email: true } })
  await ctx.prisma.$transaction(async tx => {
    // Only one of several concurrent requests deletes it. Links that were sent before end, too.
    const { count } = await tx.passwordReset.deleteMany({ where: valid })
    if (count === 0) throw unknownToken()
    await tx.passwordReset.deleteMany({ where: { userId } })
    await recordConfirmedEmail(ctx, tx, userId, false)
    await tx.user.update({ where: { id: userId }, data: { passwordHash } })
    await tx.session.deleteMany({ where: { userId } })
    await tx.challenge.deleteMany({ where: { userId } }) // sign-ins with the old password
    await recordAccountEntry(tx, { userId, action: 'password_reset', address: callerAddress(request) })
    await mailPasswordChange(ctx, tx, { id: userId, email }, callerAddress(request))
  })
  await clearLoginAttempts(ctx, email)
})

function unknownToken(): AppError {
  const message = 'The link is unknown, was used, or is older than an hour. Request another one.'
  const errors = [{ path: 'token', code: 'invalid_token', message }]
  return invalid('body', errors)
}
