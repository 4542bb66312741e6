import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { hashOneTimeToken, newOneTimeToken } from '../auth/one-time-token.ts'
import type { Context } from '../context.ts'

/** What the answer to a challenge is for. An answer for one purpose is refused for every other. */
export type Purpose =
  /** A sign-in whose password was right, and which waits for a second factor. */
  | 'sign_in'
  /** A sign-in by a passkey alone. */
  | 'passkey_sign_in'
  /** A passkey as the second factor, or as a confirmation. */
  | 'passkey'
  | 'passkey_enrolment'

type Statements = Pick<PrismaTransaction, 'challenge'>

const challengeMs = 5 * 60_000

/** Stores a challenge for five minutes. Returns its text, which is random. `userId` is null when any user may answer it. */
export async function storeChallenge(
  ctx: Pick<Context, 'clock'>,
  tx: Statements,
  purpose: Purpose,
  userId: string | null,
): Promise<string> {
  const { token, tokenHash: hash } = newOneTimeToken()
  await tx.challenge.create({ data: { hash, purpose, userId, expiresAt: new Date(ctx.clock.now() + challengeMs) } })
  return token
}

/** Returns the user of a challenge that is still open; null when it is unknown, used or expired. */
export async function readChallenge(ctx: Context, text: string, purpose: Purpose): Promise<string | null> {
  const found = await ctx.prisma.challenge.findFirst({ where: openChallenge(ctx, text, purpose) })
  return found?.userId ?? null
}

/** Uses a challenge up. Of several concurrent callers one gets true. */
export async function consumeChallenge(
  ctx: Pick<Context, 'clock'>,
  tx: Statements,
  text: string,
  purpose: Purpose,
  userId: string | null,
): Promise<boolean> {
  const { count } = await tx.challenge.deleteMany({ where: { ...openChallenge(ctx, text, purpose), userId } })
  return count === 1
}

function openChallenge({ clock }: Pick<Context, 'clock'>, text: string, purpose: Purpose) {
  return { hash: hashOneTimeToken(text), purpose, expiresAt: { gt: new Date(clock.now()) } }
}
