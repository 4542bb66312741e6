import { loginBody, signedIn } from '@belfry/contract/auth'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import type { Request } from 'express'
import type { UserRow } from '../account/get-me.ts'
import { knownDevice } from '../account/known-device.ts'
import { hashPassword, isOutdatedHash, provePassword } from '../account/password.ts'
import { requirePasswordLogin } from '../account/password-login.ts'
import { recordFailedSignIn } from '../account/record-account.ts'
import { startSession } from '../account/start-session.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { factorsOf } from '../auth/second-factors.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { storeChallenge } from './challenges.ts'

export const login = endpoint({
  right: 'public',
  summary: 'Sign in',
  answer: { status: 200, body: signedIn, setsCookie: true },
  refusals: ['unauthenticated', 'second_factor_required', 'password_login_off'],
  body: loginBody,
  async handle(ctx, { body, request }) {
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
    return { status: 200, ...session }
  },
})

// The update refreshes an old hash, and it waits for a concurrent change of the password: after such a change it matches
// no row. So a password that is no longer the user's opens no session.
async function signIn(ctx: Context, user: UserRow & { passwordHash: string }, password: string, request: Request) {
  const { id, passwordHash } = user
  const kept = isOutdatedHash(passwordHash) ? await hashPassword(password) : passwordHash
  return ctx.prisma.$transaction(async tx => {
    const { count } = await tx.user.updateMany({ where: { id, passwordHash }, data: { passwordHash: kept } })
    return count === 0 ? null : startSignIn(ctx, tx, user, request)
  })
}

type Session = Awaited<ReturnType<typeof startSession>>

/**
 * Opens a session for a user whose first factor is proven. When the user has a second factor, returns the refusal that asks
 * for it instead, which the caller throws after the transaction.
 */
async function startSignIn(
  ctx: Context,
  tx: PrismaTransaction,
  user: UserRow,
  request: Request,
): Promise<Session | AppError> {
  const factors = await factorsOf(tx, user.id)
  if (factors.length === 0) return startSession(ctx, tx, user, request)
  const token = await storeChallenge(ctx, tx, 'sign_in', user.id)
  const message = 'Enter a code of your authenticator app, or use a passkey or a recovery code.'
  return new AppError('second_factor_required', message, { extra: { factors, sign_in_token: token } })
}
