import type { PrismaTransaction } from '@belfry/db/prisma'
import { AppError } from '@belfry/domain'
import type { Request } from 'express'
import type { UserRow } from '../auth/get-me.ts'
import { startSession } from '../auth/start-session.ts'
import type { Context } from '../context.ts'
import { storeChallenge } from './challenges.ts'
import { factorsOf } from './second-factors.ts'

type Session = Awaited<ReturnType<typeof startSession>>

/**
 * Opens a session for a user whose first factor is proven. When the user has a second factor, returns the refusal that asks
 * for it instead, which the caller throws after the transaction.
 */
export async function startSignIn(
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
