import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { openWithOwnKey, sealWithOwnKey } from '@belfry/db/secrets/own-data-key'
import { newUuid } from '@belfry/domain/id'
import { Secret, TOTP } from 'otpauth'
import type { Context } from '../context.ts'

const periodMs = 30_000

/** Stores a new secret of an authenticator app, which is no factor before its first code. Returns it. */
export async function storeTotpSecret(ctx: Context, user: { id: string; email: string }): Promise<TOTP> {
  const totp = totpOf(new Secret({ size: 20 }), user.email)
  const id = newUuid()
  const { sealed, masterKeyId, wrappedKey } = sealWithOwnKey(ctx.config.masterKeys, id, totp.secret.base32)
  const data = { id, userId: user.id, sealedSecret: bytes(sealed), masterKeyId, wrappedKey: bytes(wrappedKey) }
  await ctx.prisma.$transaction([
    ctx.prisma.totpFactor.deleteMany({ where: { userId: user.id, confirmedAt: null } }),
    ctx.prisma.totpFactor.create({ data }),
  ])
  return totp
}

/**
 * Returns whether a code is the current one of a user's authenticator app, and uses it up: each code works once, and so do the
 * earlier ones no longer. The clock of the app may differ by half a minute.
 * @param isConfirmed - False for the first code.
 */
export async function useTotpCode(
  ctx: Context,
  tx: Pick<PrismaTransaction, 'totpFactor'>,
  userId: string,
  code: string,
  isConfirmed = true,
): Promise<boolean> {
  const factor = await tx.totpFactor.findUnique({ where: { userId } })
  if (!factor || (factor.confirmedAt !== null) !== isConfirmed) return false
  const token = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return false
  const { id, sealedSecret: sealed, masterKeyId, wrappedKey } = factor
  const secret = openWithOwnKey(ctx.config.masterKeys, id, { sealed, masterKeyId, wrappedKey })
  const timestamp = ctx.clock.now()
  const delta = totpOf(Secret.fromBase32(secret)).validate({ token, timestamp, window: 1 })
  if (delta === null) return false
  const step = BigInt(Math.floor(timestamp / periodMs) + delta)
  const { count } = await tx.totpFactor.updateMany({
    where: {
      id,
      confirmedAt: isConfirmed ? { not: null } : null,
      OR: [{ lastStep: null }, { lastStep: { lt: step } }],
    },
    data: { lastStep: step, ...(isConfirmed ? {} : { confirmedAt: new Date(timestamp) }) },
  })
  return count === 1
}

function totpOf(secret: Secret, label = ''): TOTP {
  return new TOTP({ issuer: 'Belfry', label, secret, algorithm: 'SHA1', digits: 6, period: periodMs / 1000 })
}

function bytes(from: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(from)
}
