import type { PasskeyAssertion } from '@belfry/contract/second-factor'
import { recordAccountEntry } from '@belfry/db/account-log'
import { mailFactorChange } from '../account/account-mail.ts'
import { consumeLoginAttempt, consumeTotpAttempt, type Origin } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { verifyPasskey } from './passkeys.ts'
import { useRecoveryCode } from './recovery-codes.ts'
import { useTotpCode } from './totp.ts'

type User = { id: string; email: string }

/** A second factor that a caller sends: one of them. */
export type Proof = {
  code?: string | undefined
  recovery_code?: string | undefined
  passkey?: PasskeyAssertion | undefined
}

/**
 * Returns whether a proof is of a second factor of the user, and uses it up. Attempts count like logins. Codes of six digits
 * have a limit of their own, which no network is spared from: they can be guessed.
 * @throws AppError `rate_limited`.
 */
export async function proveFactor(ctx: Context, user: User, from: Origin, proof: Proof): Promise<boolean> {
  const attempt = await consumeLoginAttempt(ctx, user.email, from)
  const isProven = await isFactor(ctx, user, from, proof)
  if (isProven) await attempt.refund()
  return isProven
}

async function isFactor(ctx: Context, user: User, from: Origin, proof: Proof): Promise<boolean> {
  const { code, recovery_code: recoveryCode, passkey } = proof
  if (code !== undefined) {
    const attempt = await consumeTotpAttempt(ctx, user.id, from)
    const isCode = await useTotpCode(ctx, ctx.prisma, user.id, code)
    if (isCode) await attempt.refund()
    return isCode
  }
  if (recoveryCode !== undefined) return isRecoveryCode(ctx, user, from, recoveryCode)
  return passkey !== undefined && (await verifyPasskey(ctx, user.id, passkey)) !== null
}

function isRecoveryCode(ctx: Context, user: User, { address }: Origin, code: string): Promise<boolean> {
  return ctx.prisma.$transaction(async tx => {
    if (!(await useRecoveryCode(tx, user.id, code))) return false
    await recordAccountEntry(tx, { userId: user.id, action: 'recovery_code_used', address })
    const left = await tx.recoveryCode.count({ where: { userId: user.id } })
    await mailFactorChange(ctx, tx, user, `A recovery code was used. ${left} are left.`, address)
    return true
  })
}
