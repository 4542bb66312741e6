import { operations } from '@belfry/contract/operations'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError, invalidField, notFound } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { recordFactorChange } from '../account/account-mail.ts'
import type { UserCaller } from '../auth/find-user.ts'
import { deleteFactors, factorsOf, presentPasskey, readSecondFactors, requireStepUp } from '../auth/second-factors.ts'
import { consumeOne } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { refuseDuplicate } from '../http/errors.ts'
import { ApiResponse } from '../http/response.ts'
import { recordOperatorAction } from '../operators/tenants.ts'
import { enrolmentOptions, verifyEnrolment } from './passkeys.ts'
import { replaceRecoveryCodes, storeTotpSecret, useTotpCode } from './prove-factor.ts'

const maxPasskeys = 20

export const listFactors = endpoint(operations.listFactors, async (ctx, { caller }) =>
  readSecondFactors(ctx.prisma, caller.userId),
)

export const passkeyEnrolmentOptions = endpoint(operations.passkeyEnrolmentOptions, async (ctx, { caller }) => {
  await requireStepUp(ctx, caller)
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: caller.userId } })
  return enrolmentOptions(ctx, user)
})

export const addPasskey = endpoint(operations.addPasskey, async (ctx, { caller, body }) => {
  await requireStepUp(ctx, caller)
  const { userId } = caller
  const made = await verifyEnrolment(ctx, userId, body.passkey)
  if (made === null) {
    const message = 'passkey answers no open challenge of this installation. Try again.'
    throw invalidField('passkey', 'wrong_passkey', message)
  }
  const add = async (tx: PrismaTransaction) => {
    await lockUser(tx, userId)
    if ((await tx.passkey.count({ where: { userId } })) >= maxPasskeys) {
      throw new AppError('conflict', `An account has at most ${maxPasskeys} passkeys.`)
    }
    const isFirst = (await factorsOf(tx, userId)).length === 0
    const codes = await recordAddition(ctx, tx, caller, isFirst, `The passkey "${body.name}" was added.`)
    const row = await tx.passkey.create({ data: { id: newUuid(), userId, name: body.name, ...made } })
    return { ...presentPasskey(row), recovery_codes: codes }
  }
  const taken = new AppError('conflict', 'This passkey has an account already.')
  const added = await refuseDuplicate(ctx.prisma.$transaction(add), taken)
  return new ApiResponse({ status: 201, body: added, headers: { Location: '/api/v1/auth/factors' } })
})

export const removePasskey = endpoint(operations.removePasskey, async (ctx, { caller, params }) => {
  const { userId } = caller
  const row = await ctx.prisma.passkey.findFirst({ where: { id: params.passkey, userId } })
  if (!row) throw notFound()
  await requireStepUp(ctx, caller)
  await ctx.prisma.$transaction(async tx => {
    await lockUser(tx, userId)
    const { count } = await tx.passkey.deleteMany({ where: { id: row.id, userId } })
    if (count > 0) await recordRemoval(ctx, tx, caller, `The passkey "${row.name}" was removed.`)
  })
})

export const startTotp = endpoint(operations.startTotp, async (ctx, { caller }) => {
  await requireStepUp(ctx, caller)
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: caller.userId } })
  const taken = new AppError('conflict', 'The account has an authenticator app: remove that one first.')
  const totp = await refuseDuplicate(storeTotpSecret(ctx, user), taken)
  return { secret: totp.secret.base32, uri: totp.toString() }
})

export const confirmTotp = endpoint(operations.confirmTotp, async (ctx, { caller, body }) => {
  await requireStepUp(ctx, caller)
  const { userId, sessionId } = caller
  const attempt = await consumeOne(ctx, 'code of', sessionId)
  const codes = await ctx.prisma.$transaction(async tx => {
    await lockUser(tx, userId)
    const isFirst = (await factorsOf(tx, userId)).length === 0
    if (!(await useTotpCode(ctx, tx, userId, body.code, false))) {
      throw invalidField('code', 'wrong_code', 'The code is wrong or expired.')
    }
    return recordAddition(ctx, tx, caller, isFirst, 'An authenticator app was added.')
  })
  await attempt.refund()
  return { recovery_codes: codes }
})

export const removeTotp = endpoint(operations.removeTotp, async (ctx, { caller }) => {
  const { userId } = caller
  const isConfirmed = { userId, confirmedAt: { not: null } }
  if ((await ctx.prisma.totpFactor.count({ where: isConfirmed })) === 0) throw notFound()
  await requireStepUp(ctx, caller)
  await ctx.prisma.$transaction(async tx => {
    await lockUser(tx, userId)
    const { count } = await tx.totpFactor.deleteMany({ where: isConfirmed })
    if (count > 0) await recordRemoval(ctx, tx, caller, 'The authenticator app was removed.')
  })
})

export const createRecoveryCodes = endpoint(operations.createRecoveryCodes, async (ctx, { caller }) => {
  const { userId, address } = caller
  await requireStepUp(ctx, caller)
  const codes = await ctx.prisma.$transaction(async tx => {
    await lockUser(tx, userId)
    if ((await factorsOf(tx, userId)).length === 0) {
      throw new AppError('conflict', 'Add a passkey or an authenticator app first.')
    }
    const what = 'New recovery codes were made. The previous ones no longer work.'
    await recordFactorChange(ctx, tx, userId, { action: 'recovery_codes_created', what, address })
    return replaceRecoveryCodes(tx, userId)
  })
  return { recovery_codes: codes }
})

// Additions and removals of one user wait for each other.
async function lockUser(tx: PrismaTransaction, userId: string): Promise<void> {
  await tx.$queryRaw`SELECT FROM users WHERE id = ${userId}::uuid FOR UPDATE`
}

/**
 * Records a new factor. The first one comes with recovery codes, and ends the other sessions, because they were opened
 * without a factor.
 */
async function recordAddition(
  ctx: Context,
  tx: PrismaTransaction,
  { userId, sessionId, address }: UserCaller,
  isFirst: boolean,
  what: string,
): Promise<string[] | null> {
  await tx.session.updateMany({ where: { id: sessionId }, data: { hasSecondFactor: true } })
  if (isFirst) await tx.session.deleteMany({ where: { userId, id: { not: sessionId } } })
  const told = isFirst ? `${what} Other sessions have ended.` : what
  await recordFactorChange(ctx, tx, userId, { action: 'factor_added', what: told, address })
  return isFirst ? replaceRecoveryCodes(tx, userId) : null
}

async function recordRemoval(ctx: Context, tx: PrismaTransaction, { userId, address }: UserCaller, what: string) {
  if ((await factorsOf(tx, userId)).length === 0) await deleteFactors(tx, userId)
  await recordFactorChange(ctx, tx, userId, { action: 'factor_removed', what, address })
}

export const resetFactors = endpoint(operations.resetFactors, async (ctx, { caller, params: { user: id }, body }) => {
  await requireStepUp(ctx, caller)
  await ctx.prisma.$transaction(async tx => {
    if (!(await tx.user.findUnique({ where: { id } }))) throw notFound()
    if ((await deleteFactors(tx, id)) === 0) return
    await tx.session.deleteMany({ where: { userId: id } })
    const details = { ...body }
    await recordOperatorAction(tx, caller, { action: 'user.factors_reset', objectId: toId('user', id), details })
    const what =
      'The operator of this installation removed all second factors of your account. Your sessions have ended.'
    await recordFactorChange(ctx, tx, id, { action: 'factors_reset', what, address: null })
  })
})
