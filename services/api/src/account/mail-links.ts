import { setTimeout as sleep } from 'node:timers/promises'
import { operations } from '@belfry/contract/operations'
import { recordAccountEntry } from '@belfry/db/account-log'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError, invalidField } from '@belfry/domain/app-error'
import { confirmEmailMail, passwordResetMail } from '@belfry/messages'
import type { Request } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import { findUser } from '../auth/find-user.ts'
import { hashOneTimeToken, newOneTimeToken } from '../auth/one-time-token.ts'
import { deleteFactors } from '../auth/second-factors.ts'
import { clearLoginAttempts, consumeRequest } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { type Recipient, recordFactorChange, recordNewPassword, storeMail } from './account-mail.ts'
import { hashPassword, noPasswordHash, requirePasswordLogin } from './password.ts'

export const confirmEmail = endpoint(operations.confirmEmail, async (ctx, { body, request }) => {
  const address = callerAddress(request)
  await consumeRequest(ctx, 'reset', address)
  const confirmation = await ctx.prisma.emailConfirmation.findFirst({ where: openLink(ctx, body.token) })
  if (!confirmation) throw unknownLink('a day')
  const { userId } = confirmation
  const proof = (await hasSession(ctx, request, userId)) ? 'session' : 'mail'
  await ctx.prisma.$transaction(tx => recordConfirmedEmail(ctx, tx, userId, { proof, address }))
})

async function hasSession(ctx: Context, request: Request, userId: string): Promise<boolean> {
  try {
    return (await findUser(ctx, request)).userId === userId
  } catch (error) {
    if (error instanceof AppError && ['unauthenticated', 'forbidden', 'suspended'].includes(error.code)) return false
    throw error
  }
}

export const resendConfirmation = endpoint(operations.resendConfirmation, async (ctx, { caller }) => {
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: caller.userId } })
  if (mustConfirmEmail(ctx, user)) {
    await ctx.prisma.$transaction(tx => storeConfirmationMail(ctx, tx, user, caller.address))
  }
})

const confirmationMs = 24 * 3_600_000

/** Stores the mail with the link that confirms a user's address, unless the address has got too many mails. */
export async function storeConfirmationMail(ctx: Context, tx: PrismaTransaction, user: Recipient, address: string) {
  const { token, tokenHash } = newOneTimeToken()
  const mail = confirmEmailMail(user.email, `${ctx.config.publicUrl}/confirm-email#${token}`)
  const link = { kind: 'mail', usefulMs: confirmationMs } as const
  if (!(await storeMail(ctx, tx, user, { label: 'email confirmation', mail, address, link }))) return
  const expiresAt = new Date(ctx.clock.now() + confirmationMs)
  await tx.emailConfirmation.create({ data: { tokenHash, userId: user.id, expiresAt } })
}

/**
 * Records that a user receives mail at the address of the account. Any person may have registered the address, so the
 * first proof ends the password, sessions and links that came before it, unless a session of the account gives it. It ends
 * the factors too; a mail does so only while a stranger may own the account.
 * @param proof - Who gives it: a session of the account, the reader of a mail, or the issuer.
 */
export async function recordConfirmedEmail(
  ctx: Context,
  tx: PrismaTransaction,
  userId: string,
  { proof, address }: { proof: 'session' | 'mail' | 'issuer'; address: string },
): Promise<void> {
  const emailConfirmedAt = new Date(ctx.clock.now())
  const { count } = await tx.user.updateMany({
    where: { id: userId, emailConfirmedAt: null },
    data: { emailConfirmedAt },
  })
  await tx.emailConfirmation.deleteMany({ where: { userId } })
  if (count === 0 || proof === 'session') return
  await tx.user.update({ where: { id: userId }, data: { passwordHash: await noPasswordHash() } })
  await tx.session.deleteMany({ where: { userId } })
  await tx.challenge.deleteMany({ where: { userId } })
  await tx.passwordReset.deleteMany({ where: { userId } })
  if (proof === 'mail' && !(await mayBeStrangers(ctx, tx, userId))) return
  if ((await deleteFactors(tx, userId)) === 0) return
  const what = 'The address of your account was confirmed for the first time, so its second factors were removed.'
  await recordFactorChange(ctx, tx, userId, { action: 'factor_removed', what, address })
}

// Where addresses are confirmed, a stranger could not join or create an organization before this proof.
async function mayBeStrangers({ config }: Context, tx: PrismaTransaction, userId: string): Promise<boolean> {
  return config.confirmsEmails && (await tx.membership.count({ where: { userId } })) === 0
}

/** Returns whether a user must confirm the address before creating an organization. */
export function mustConfirmEmail({ config }: Context, user: { emailConfirmedAt: Date | null }): boolean {
  return config.confirmsEmails && user.emailConfirmedAt === null
}

export function requireConfirmedEmail(ctx: Context, user: { emailConfirmedAt: Date | null }): void {
  if (!mustConfirmEmail(ctx, user)) return
  throw new AppError('email_not_confirmed', 'Open the link in the mail that we sent you, to confirm your address.')
}

const resetMs = 3_600_000

// Longer than the work takes, so the response time does not reveal whether the account exists. When a busy machine takes
// longer, the response is sent at the next multiple.
const responseStepMs = 400

export const forgotPassword = endpoint(operations.forgotPassword, async (ctx, { body, request }) => {
  requirePasswordLogin(ctx)
  await consumeRequest(ctx, 'reset', callerAddress(request))
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
  const address = callerAddress(request)
  await consumeRequest(ctx, 'reset', address)
  const where = openLink(ctx, body.token)
  const reset = await ctx.prisma.passwordReset.findFirst({ where, include: { user: true } })
  if (!reset) throw unknownLink('an hour')
  const { userId, user } = reset
  const passwordHash = await hashPassword(body.password, address)
  await ctx.prisma.$transaction(async tx => {
    // Only one of several concurrent requests deletes it. Links that were sent before end, too.
    const { count } = await tx.passwordReset.deleteMany({ where })
    if (count === 0) throw unknownLink('an hour')
    await tx.passwordReset.deleteMany({ where: { userId } })
    await recordConfirmedEmail(ctx, tx, userId, { proof: 'mail', address })
    await tx.user.update({ where: { id: userId }, data: { passwordHash } })
    await recordNewPassword(ctx, tx, user, { action: 'password_reset', address })
  })
  await clearLoginAttempts(ctx, user.email)
})

function openLink({ clock }: Context, token: string) {
  return { tokenHash: hashOneTimeToken(token), expiresAt: { gt: new Date(clock.now()) } }
}

function unknownLink(age: string): AppError {
  const message = `The link is unknown, was used, or is older than ${age}. Request another one.`
  return invalidField('token', 'invalid_token', message)
}
