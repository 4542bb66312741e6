import { operations } from '@belfry/contract/operations'
import type { ConfirmIdentityBody } from '@belfry/contract/second-factor'
import { recordAccountEntry } from '@belfry/db/account-log'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { consumeAttempt } from '@belfry/db/throttle'
import { AppError, invalidField } from '@belfry/domain/app-error'
import type { Request } from 'express'
import { knownDevice } from '../account/device.ts'
import { hashPassword, isOutdatedHash, provePassword, requirePasswordLogin } from '../account/password.ts'
import { startSession, type UserRow } from '../account/sessions.ts'
import { callerAddress } from '../auth/caller-address.ts'
import type { UserCaller } from '../auth/find-user.ts'
import { factorsOf } from '../auth/second-factors.ts'
import { consumeRequest } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { ApiResponse } from '../http/response.ts'
import { consumeChallenge, readChallenge, signingOptions, storeChallenge, verifyPasskey } from './passkeys.ts'
import { proveFactor } from './prove-factor.ts'

export const login = endpoint(operations.login, async (ctx, { body, request }) => {
  requirePasswordLogin(ctx)
  const email = body.email.toLowerCase()
  const user = await ctx.prisma.user.findUnique({ where: { email } })
  const account = { email, passwordHash: user?.passwordHash ?? null }
  const known = user && knownDevice(ctx, request, user.id)
  const address = callerAddress(request)
  const matches = await provePassword(ctx, account, { address, known }, body.password)
  const session = user && matches ? await signIn(ctx, user, body.password, request) : null
  if (user && !session) recordFailedSignIn(ctx, user.id, address)
  if (!session) throw new AppError('unauthenticated', 'The email or the password is wrong.')
  if (session instanceof AppError) throw session
  return new ApiResponse({ status: 200, ...session })
})

// The update refreshes an old hash, and waits for a concurrent change of the password. After such a change its
// condition fails, so the old password cannot open a session.
async function signIn(ctx: Context, user: UserRow & { passwordHash: string }, password: string, request: Request) {
  const { id, passwordHash } = user
  const kept = isOutdatedHash(passwordHash) ? await hashPassword(password, callerAddress(request)) : passwordHash
  return ctx.prisma.$transaction(async tx => {
    const { count } = await tx.user.updateMany({ where: { id, passwordHash }, data: { passwordHash: kept } })
    return count === 0 ? null : startSignIn(ctx, tx, user, request)
  })
}

/**
 * Opens a session for a user whose first factor is proven. When the user has a second factor, returns the refusal that
 * asks for it instead. The caller throws it after the transaction.
 */
async function startSignIn(ctx: Context, tx: PrismaTransaction, user: UserRow, request: Request) {
  const factors = await factorsOf(tx, user.id)
  if (factors.length === 0) return startSession(ctx, tx, user, request)
  const token = await storeChallenge(ctx, tx, 'sign_in', user.id)
  const message = 'Enter a code of your authenticator app, or use a passkey or a recovery code.'
  return new AppError('second_factor_required', message, { extra: { factors, sign_in_token: token } })
}

export const loginWithFactor = endpoint(operations.loginWithFactor, async (ctx, { body, request }) => {
  const { sign_in_token: token, ...proof } = body
  requirePasswordLogin(ctx)
  const userId = await readSignIn(ctx, token, request)
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId } })
  const address = callerAddress(request)
  const from = { address, known: knownDevice(ctx, request, userId) }
  if (!(await proveFactor(ctx, user, from, proof))) {
    recordFailedSignIn(ctx, userId, address)
    throw new AppError('unauthenticated', 'The code or the passkey is wrong, expired or used.')
  }
  const session = await ctx.prisma.$transaction(async tx => {
    const isOpen = await consumeChallenge(ctx, tx, token, 'sign_in', userId)
    return isOpen ? startSession(ctx, tx, user, request, { hasSecondFactor: true }) : null
  })
  if (!session) throw signInEnded()
  return new ApiResponse({ status: 200, ...session })
})

export const passkeyLoginOptions = endpoint(operations.passkeyLoginOptions, async (ctx, { body, request }) => {
  const { sign_in_token: token } = body
  if (token !== undefined) return signingOptions(ctx, await readSignIn(ctx, token, request))
  await consumeRequest(ctx, 'passkey', callerAddress(request))
  return signingOptions(ctx, null)
})

export const loginWithPasskey = endpoint(operations.loginWithPasskey, async (ctx, { body, request }) => {
  requirePasswordLogin(ctx)
  const userId = await verifyPasskey(ctx, null, body.passkey)
  const user = userId === null ? null : await ctx.prisma.user.findUnique({ where: { id: userId } })
  if (!user) {
    await consumeRequest(ctx, 'passkey', callerAddress(request))
    const message = 'This passkey cannot sign in: it is unknown, or its device did not check that it is you.'
    throw new AppError('unauthenticated', message)
  }
  const session = await ctx.prisma.$transaction(tx => startSession(ctx, tx, user, request, { hasSecondFactor: true }))
  return new ApiResponse({ status: 200, ...session })
})

// An open sign-in does not count: its password has, and its second factor will.
async function readSignIn(ctx: Context, token: string, request: Request): Promise<string> {
  const userId = await readChallenge(ctx, token, 'sign_in')
  if (userId !== null) return userId
  await consumeRequest(ctx, 'passkey', callerAddress(request))
  throw signInEnded()
}

function signInEnded(): AppError {
  return new AppError('unauthenticated', 'The sign-in has ended: enter your password again.')
}

// A stranger with many addresses can fail more often than a person can read.
const failures = { burst: 10, everyMs: 300_000 }

/**
 * Logs a failed sign-in to an account: ten at once, and then one in five minutes. The caller does not wait, so the time of
 * its response does not reveal whether the account exists.
 */
function recordFailedSignIn(ctx: Context, userId: string, address: string): void {
  const record = async () => {
    if ((await consumeAttempt(ctx.pool, `log of failures of ${userId}`, failures)) > 0) return
    await inTransaction(ctx.pool, tx => recordAccountEntry(tx, { userId, action: 'sign_in_failed', address }))
  }
  record().catch(error => ctx.log.warn({ err: error }, 'account.not_logged'))
}

export const confirmIdentity = endpoint(operations.confirmIdentity, async (ctx, { caller, body }) => {
  const hasSecondFactor = await prove(ctx, caller, body)
  await ctx.prisma.session.updateMany({
    where: { id: caller.sessionId },
    data: { confirmedAt: new Date(ctx.clock.now()), ...(hasSecondFactor ? { hasSecondFactor } : {}) },
  })
})

/** Returns whether the proof is a second factor. Throws `validation_failed` for a wrong proof. */
async function prove(ctx: Context, { userId, sessionId, address }: UserCaller, body: ConfirmIdentityBody) {
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId } })
  const from = { address, known: sessionId }
  const hasFactors = (await factorsOf(ctx.prisma, userId)).length > 0
  const { password } = body
  if (password === undefined) {
    if (!(await proveFactor(ctx, user, from, body))) throw wrong(body)
    return true
  }
  requirePasswordLogin(ctx)
  if (hasFactors) {
    const message = 'The account has a second factor: confirm with that.'
    throw invalidField('password', 'second_factor_required', message)
  }
  if (!(await provePassword(ctx, user, from, password))) throw wrong(body)
  return false
}

function wrong({ password, code, recovery_code }: ConfirmIdentityBody) {
  if (password !== undefined) return invalidField('password', 'wrong_password', 'The password is wrong.')
  if (code !== undefined) return invalidField('code', 'wrong_code', 'The code is wrong, expired or used.')
  if (recovery_code !== undefined)
    return invalidField('recovery_code', 'wrong_code', 'The recovery code is wrong or used.')
  return invalidField('passkey', 'wrong_passkey', 'The passkey is not one of yours.')
}

export const confirmIdentityOptions = endpoint(operations.confirmIdentityOptions, async (ctx, { caller }) =>
  signingOptions(ctx, caller.userId),
)
