import { createHash, randomBytes } from 'node:crypto'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'

const count = 10
// Each character is five random bits.
const length = 16
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

type Statements = Pick<PrismaTransaction, 'recoveryCode'>

/** Replaces the recovery codes of a user by ten new ones of 80 random bits each. Only their hashes are stored. */
export async function replaceRecoveryCodes(tx: Statements, userId: string): Promise<string[]> {
  const codes = Array.from({ length: count }, newCode)
  await tx.recoveryCode.deleteMany({ where: { userId } })
  await tx.recoveryCode.createMany({ data: codes.map(code => ({ userId, codeHash: hashOf(code) })) })
  return codes
}

/** Uses a recovery code up. Of several concurrent requests with the same code one gets true. */
export async function useRecoveryCode(tx: Statements, userId: string, code: string): Promise<boolean> {
  return (await tx.recoveryCode.deleteMany({ where: { userId, codeHash: hashOf(code) } })).count === 1
}

function newCode(): string {
  const letters = Array.from(randomBytes(length), byte => alphabet[byte & 31]).join('')
  return (letters.match(/.{4}/g) ?? []).join('-')
}

// Hyphens, spaces and capitals make no difference to people. A slow hash is not needed for 80 random bits.
function hashOf(code: string): Uint8Array<ArrayBuffer> {
  const letters = code.toLowerCase().replace(/[\s-]/g, '')
  return new Uint8Array(createHash('sha256').update(letters).digest())
}
