import { randomBytes } from 'node:crypto'
import type { PasskeyAssertion } from '@belfry/contract/second-factor'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { openWithOwnKey, sealWithOwnKey } from '@belfry/db/secrets/own-data-key'
import { newUuid } from '@belfry/domain/id'
import { Secret, TOTP } from 'otpauth'
import { type Recipient, recordFactorChange } from '../account/account-mail.ts'
import { hashOneTimeToken } from '../auth/one-time-token.ts'
import { consumeLoginAttempt, consumeOne, type Origin } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { verifyPasskey } from './passkeys.ts'

/** A second factor that a caller sends: one of them. */
type Proof = {
  code?: string | undefined
  recovery_code?: string | undefined
  passkey?: PasskeyAssertion | undefined
}

/**
 * Returns whether a proof is of a second factor of the user, and uses it up. Attempts count like logins. Codes of six
 * digits can be guessed, so they have a separate limit without spare attempts.
 * @throws AppError `rate_limited`.
 */
export async function proveFactor(ctx: Context, user: Recipient, from: Origin, proof: Proof): Promise<boolean> {
  const attempt = await consumeLoginAttempt(ctx, user.email, from)
  const isProven = await isFactor(ctx, user, from, proof)
  if (isProven) await attempt.refund()
  return isProven
}

async function isFactor(ctx: Context, user: Recipient, from: Origin, proof: Proof): Promise<boolean> {
  const { code, recovery_code: recoveryCode, passkey } = proof
  if (code !== undefined) {
    const attempt = await consumeOne(ctx, 'code of', from.known ?? user.id)
    const isCode = await useTotpCode(ctx, ctx.prisma, user.id, code)
    if (isCode) await attempt.refund()
    return isCode
  }
  if (recoveryCode !== undefined) return isRecoveryCode(ctx, user, from, recoveryCode)
  return passkey !== undefined && (await verifyPasskey(ctx, user.id, passkey)) !== null
}

function isRecoveryCode(ctx: Context, user: Recipient, { address }: Origin, code: string): Promise<boolean> {
  return ctx.prisma.$transaction(async tx => {
    // Of several concurrent requests with the same code one deletes it.
    const used = await tx.recoveryCode.deleteMany({ where: { userId: user.id, codeHash: hashOf(code) } })
    if (used.count === 0) return false
    const left = await tx.recoveryCode.count({ where: { userId: user.id } })
    const what = `A recovery code was used. ${left} are left.`
    await recordFactorChange(ctx, tx, user.id, { action: 'recovery_code_used', what, address })
    return true
  })
}

const periodMs = 30_000

/** Stores and returns a new secret of an authenticator app. It becomes a factor with its first code. */
export async function storeTotpSecret(ctx: Context, user: Recipient): Promise<TOTP> {
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
 * Returns whether a code is the current one of a user's authenticator app, and uses it up: each code works once, and
 * ends the use of earlier codes. The clock of the app may differ by half a minute.
 * @param isConfirmed - False for the first code.
 */
export async function useTotpCode(
  ctx: Context,
  tx: PrismaTransaction,
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

const count = 10
// Each character is five random bits.
const length = 16
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Replaces the recovery codes of a user by ten new ones of 80 random bits each. Only their hashes are stored. */
export async function replaceRecoveryCodes(tx: PrismaTransaction, userId: string): Promise<string[]> {
  const codes = Array.from({ length: count }, newCode)
  await tx.recoveryCode.deleteMany({ where: { userId } })
  await tx.recoveryCode.createMany({ data: codes.map(code => ({ userId, codeHash: hashOf(code) })) })
  return codes
}

function newCode(): string {
  const letters = Array.from(randomBytes(length), byte => alphabet[byte & 31]).join('')
  return (letters.match(/.{4}/g) ?? []).join('-')
}

// Ignores hyphens, spaces and capitals, as people do. A slow hash is not needed for 80 random bits.
function hashOf(code: string): Uint8Array<ArrayBuffer> {
  return hashOneTimeToken(code.toLowerCase().replace(/[\s-]/g, ''))
}
