import { AppError } from '@belfry/domain'
import type { UserCaller } from '../auth/find-user.ts'
import type { Context } from '../context.ts'
import { factorsOf } from './second-factors.ts'

const confirmedForMs = 10 * 60_000

/**
 * Requires that the user of a session has signed in or confirmed the identity within the last ten minutes.
 * @throws AppError `step_up_required`, with the kinds of proof.
 */
export async function requireStepUp(ctx: Context, { userId, sessionId, confirmedAt }: UserCaller): Promise<void> {
  if (ctx.clock.now() - confirmedAt <= confirmedForMs) return
  const own = await factorsOf(ctx.prisma, userId)
  if (own.length === 0 && !(await hasPassword(ctx, sessionId))) {
    throw new AppError('step_up_required', 'Sign in again to confirm that it is you.', { extra: { factors: [] } })
  }
  const factors = own.length > 0 ? own : ['password']
  throw new AppError('step_up_required', 'Confirm that it is you, or sign in again.', { extra: { factors } })
}

/**
 * Requires a second factor in the session of a user.
 * @throws AppError `second_factor_required`, with the kinds of factor that the user has.
 */
export async function requireSecondFactor(ctx: Context, { userId, hasSecondFactor }: UserCaller): Promise<void> {
  if (hasSecondFactor) return
  const factors = await factorsOf(ctx.prisma, userId)
  const message =
    factors.length > 0
      ? 'The organization requires a second factor: confirm with yours, or sign in again.'
      : 'The organization requires a second factor: add a passkey or an authenticator app to your profile.'
  throw new AppError('second_factor_required', message, { extra: { factors } })
}

// A user who signed in through the issuer may have a password that no person knows.
async function hasPassword({ config, prisma }: Context, sessionId: string): Promise<boolean> {
  if (!config.passwordLogin) return false
  return (await prisma.session.count({ where: { id: sessionId, logoutHint: null } })) > 0
}
