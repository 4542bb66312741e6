import { AppError } from '@belfry/domain/app-error'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { findUser, type UserCaller } from './find-user.ts'

/** A signed-in user whose address is in `OPERATORS`, and confirmed where this installation confirms addresses. */
export type OperatorCaller = UserCaller & { email: string }

/** Finds the signed-in operator who sends a request. Throws `forbidden` for other users. */
export async function findOperator(ctx: Context, request: Request): Promise<OperatorCaller> {
  const user = await findUser(ctx, request)
  const { email, emailConfirmedAt } = await ctx.prisma.user.findUniqueOrThrow({ where: { id: user.userId } })
  const isConfirmed = emailConfirmedAt !== null || !ctx.config.confirmsEmails
  if (!isConfirmed || !ctx.config.operators.includes(email))
    throw new AppError('forbidden', 'Only operators may do this.')
  return { ...user, email }
}
