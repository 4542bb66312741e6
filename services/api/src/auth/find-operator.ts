import { AppError } from '@belfry/domain/app-error'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { findUser, type UserCaller } from './find-user.ts'
import { requireSecondFactor } from './second-factors.ts'

/** A user whose proven address is in `OPERATORS`, signed in with a second factor. */
export type OperatorCaller = UserCaller & { email: string }

/**
 * Finds the signed-in operator who sends a request. An address that is not confirmed proves nothing where addresses are
 * confirmed, or where any person may register.
 * @throws AppError `forbidden` for other users, `second_factor_required`.
 */
export async function findOperator(ctx: Context, request: Request): Promise<OperatorCaller> {
  const user = await findUser(ctx, request)
  const { email, emailConfirmedAt } = await ctx.prisma.user.findUniqueOrThrow({ where: { id: user.userId } })
  const { confirmsEmails, registration, operators } = ctx.config
  const isProven = emailConfirmedAt !== null || !(confirmsEmails || registration === 'open')
  if (!isProven || !operators.includes(email)) {
    throw new AppError('forbidden', 'Only operators with a confirmed address may do this.')
  }
  await requireSecondFactor(ctx, user, 'The operator console')
  return { ...user, email }
}
