import type { FactorKind, SecondFactors } from '@belfry/contract/second-factor'
import type { Passkey } from '@belfry/db/generated/client'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import type { Context } from '../context.ts'
import type { UserCaller } from './find-user.ts'

export async function readSecondFactors(tx: PrismaTransaction, userId: string): Promise<SecondFactors> {
  const passkeys = await tx.passkey.findMany({ where: { userId }, orderBy: { id: 'asc' } })
  const totp = await tx.totpFactor.findFirst({ where: { userId, confirmedAt: { not: null } } })
  return {
    passkeys: passkeys.map(presentPasskey),
    totp: totp && { created_at: (totp.confirmedAt ?? totp.createdAt).toISOString() },
    recovery_codes_left: await tx.recoveryCode.count({ where: { userId } }),
  }
}

export function presentPasskey({ id, name, createdAt, lastUsedAt }: Passkey) {
  const times = { created_at: createdAt.toISOString(), last_used_at: lastUsedAt?.toISOString() ?? null }
  return { id: toId('pk', id), name, ...times }
}

/** Returns the kinds of proof that a user can give as a second factor. Empty without a second factor. */
export async function factorsOf(tx: PrismaTransaction, userId: string): Promise<FactorKind[]> {
  const { passkeys, totp, recovery_codes_left: codesLeft } = await readSecondFactors(tx, userId)
  const own = [...(passkeys.length > 0 ? (['passkey'] as const) : []), ...(totp ? (['totp'] as const) : [])]
  // Without a factor the codes stand in for nothing.
  return own.length > 0 && codesLeft > 0 ? [...own, 'recovery_code'] : own
}

/** Deletes the recovery codes, too. The sessions of the user then count as signed in without a second factor. */
export async function deleteFactors(tx: PrismaTransaction, userId: string): Promise<number> {
  const where = { where: { userId } }
  const passkeys = await tx.passkey.deleteMany(where)
  const apps = await tx.totpFactor.deleteMany(where)
  await tx.recoveryCode.deleteMany(where)
  await tx.challenge.deleteMany(where)
  await tx.session.updateMany({ ...where, data: { hasSecondFactor: false } })
  return passkeys.count + apps.count
}

const confirmedForMs = 10 * 60_000

/**
 * Requires that the user of a session has signed in or confirmed the identity within the last ten minutes.
 * @throws AppError `step_up_required`, with the kinds of proof.
 */
export async function requireStepUp(ctx: Context, { userId, sessionId, confirmedAt }: UserCaller): Promise<void> {
  if (ctx.clock.now() - confirmedAt <= confirmedForMs) return
  const own = await factorsOf(ctx.prisma, userId)
  if (own.length === 0 && !(await hasPassword(ctx, sessionId))) {
    throw new AppError('step_up_required', "Sign in again to confirm it's you.", { extra: { factors: [] } })
  }
  const factors = own.length > 0 ? own : ['password']
  throw new AppError('step_up_required', "Confirm it's you, or sign in again.", { extra: { factors } })
}

/** Throws `second_factor_required`, with the kinds of factor that the user has. `who` is what requires one. */
export async function requireSecondFactor(
  ctx: Context,
  { userId, hasSecondFactor }: UserCaller,
  who = 'The organization',
): Promise<void> {
  if (hasSecondFactor) return
  const factors = await factorsOf(ctx.prisma, userId)
  const message =
    factors.length > 0
      ? `${who} requires a second factor: confirm with yours, or sign in again.`
      : `${who} requires a second factor: add a passkey or an authenticator app to your profile.`
  throw new AppError('second_factor_required', message, { extra: { factors } })
}

// A user who signed in through the issuer may have a password that no person knows.
async function hasPassword({ config, prisma }: Context, sessionId: string): Promise<boolean> {
  if (!config.passwordLogin) return false
  return (await prisma.session.count({ where: { id: sessionId, logoutHint: null } })) > 0
}
