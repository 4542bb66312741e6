import type { FactorKind, SecondFactors } from '@belfry/contract'
import type { PrismaTransaction } from '@belfry/db/prisma'
import { toId } from '@belfry/domain'

type Statements = Pick<PrismaTransaction, 'passkey' | 'totpFactor' | 'recoveryCode'>

/** Reads the second factors of a user. */
export async function readSecondFactors(tx: Statements, userId: string): Promise<SecondFactors> {
  const passkeys = await tx.passkey.findMany({ where: { userId }, orderBy: { id: 'asc' } })
  const totp = await tx.totpFactor.findFirst({ where: { userId, confirmedAt: { not: null } } })
  return {
    passkeys: passkeys.map(presentPasskey),
    totp: totp && { created_at: (totp.confirmedAt ?? totp.createdAt).toISOString() },
    recovery_codes_left: await tx.recoveryCode.count({ where: { userId } }),
  }
}

type PasskeyRow = { id: string; name: string; createdAt: Date; lastUsedAt: Date | null }

/** Returns the public form of a passkey. */
export function presentPasskey({ id, name, createdAt, lastUsedAt }: PasskeyRow) {
  const times = { created_at: createdAt.toISOString(), last_used_at: lastUsedAt?.toISOString() ?? null }
  return { id: toId('pk', id), name, ...times }
}

/** Returns the kinds of proof that a user can give as a second factor. Empty: the user has none. */
export async function factorsOf(tx: Statements, userId: string): Promise<FactorKind[]> {
  const { passkeys, totp, recovery_codes_left: codesLeft } = await readSecondFactors(tx, userId)
  const own = [...(passkeys.length > 0 ? (['passkey'] as const) : []), ...(totp ? (['totp'] as const) : [])]
  // Without a factor the codes stand in for nothing.
  return own.length > 0 && codesLeft > 0 ? [...own, 'recovery_code'] : own
}

/** Deletes all second factors of a user, with the recovery codes. Its sessions no longer have one. */
export async function deleteFactors(
  tx: Statements & Pick<PrismaTransaction, 'session' | 'challenge'>,
  userId: string,
): Promise<number> {
  const where = { where: { userId } }
  const passkeys = await tx.passkey.deleteMany(where)
  const apps = await tx.totpFactor.deleteMany(where)
  await tx.recoveryCode.deleteMany(where)
  await tx.challenge.deleteMany(where)
  await tx.session.updateMany({ ...where, data: { hasSecondFactor: false } })
  return passkeys.count + apps.count
}
