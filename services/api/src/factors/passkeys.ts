import type { CreatePasskeyBody, PasskeyAssertion, PasskeyOptions } from '@belfry/contract/second-factor'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { parseJson } from '@belfry/domain/json-text'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { UserRow } from '../account/sessions.ts'
import { hashOneTimeToken, newOneTimeToken } from '../auth/one-time-token.ts'
import type { Context } from '../context.ts'

// The library is large, and most processes never need it.
const library = () => import('@simplewebauthn/server')

function relyingParty({ config: { publicUrl } }: Context) {
  return { origin: publicUrl, id: new URL(publicUrl).hostname }
}

export async function enrolmentOptions(ctx: Context, user: UserRow): Promise<PasskeyOptions> {
  const { generateRegistrationOptions } = await library()
  const challenge = await storeChallenge(ctx, ctx.prisma, 'passkey_enrolment', user.id)
  const options = await generateRegistrationOptions({
    rpName: 'Belfry',
    rpID: relyingParty(ctx).id,
    userName: user.email,
    userDisplayName: user.name,
    userID: new Uint8Array(Buffer.from(user.id.replaceAll('-', ''), 'hex')),
    challenge: bytesOf(challenge),
    excludeCredentials: await credentialsOf(ctx, user.id),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  })
  return { ...options }
}

/** Returns the options for signing with a passkey. Without a user any passkey of this installation may answer. */
export async function signingOptions(ctx: Context, userId: string | null): Promise<PasskeyOptions> {
  const { generateAuthenticationOptions } = await library()
  const challenge = await storeChallenge(ctx, ctx.prisma, userId === null ? 'passkey_sign_in' : 'passkey', userId)
  const options = await generateAuthenticationOptions({
    rpID: relyingParty(ctx).id,
    challenge: bytesOf(challenge),
    // A passkey alone has to prove who uses it. As a second factor it proves possession, and the password came before.
    userVerification: userId === null ? 'required' : 'preferred',
    ...(userId === null ? {} : { allowCredentials: await credentialsOf(ctx, userId) }),
  })
  return { ...options }
}

async function credentialsOf({ prisma }: Context, userId: string) {
  const rows = await prisma.passkey.findMany({ where: { userId }, orderBy: { id: 'asc' } })
  return rows.map(({ credentialId: id, transports }) => ({ id, transports }))
}

/** Checks the answer to `enrolmentOptions`. Returns null unless it is for this user, this origin and an open challenge. */
export async function verifyEnrolment(ctx: Context, userId: string, passkey: CreatePasskeyBody['passkey']) {
  const { verifyRegistrationResponse } = await library()
  const { origin, id } = relyingParty(ctx)
  const challenge = challengeOf(passkey.response.clientDataJSON)
  if (!(await consumeChallenge(ctx, ctx.prisma, challenge, 'passkey_enrolment', userId))) return null
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { ...passkey, clientExtensionResults: {} } as unknown as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: false,
  }).catch(() => ({ verified: false as const, registrationInfo: undefined })) // it rejects what it does not accept
  if (!verified || !registrationInfo) return null
  const { credential } = registrationInfo
  return {
    credentialId: credential.id,
    publicKey: new Uint8Array(credential.publicKey),
    counter: BigInt(credential.counter),
    transports: credential.transports ?? [],
  }
}

/**
 * Checks the answer to `signingOptions`, and uses its challenge up. Returns the user whose passkey it is; null when it is for
 * another origin, another challenge or another user, or was changed.
 * @param userId - Null for a sign-in by a passkey alone.
 */
export async function verifyPasskey(ctx: Context, userId: string | null, passkey: PasskeyAssertion) {
  const { verifyAuthenticationResponse } = await library()
  const { origin, id: rpId } = relyingParty(ctx)
  const stored = await ctx.prisma.passkey.findUnique({ where: { credentialId: passkey.id } })
  if (!stored || (userId !== null && stored.userId !== userId)) return null
  const purpose = userId === null ? 'passkey_sign_in' : 'passkey'
  const challenge = challengeOf(passkey.response.clientDataJSON)
  if (!(await consumeChallenge(ctx, ctx.prisma, challenge, purpose, userId))) return null
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...passkey, clientExtensionResults: {} } as unknown as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    credential: {
      id: stored.credentialId,
      publicKey: new Uint8Array(stored.publicKey),
      counter: Number(stored.counter),
    },
    requireUserVerification: userId === null,
  }).catch(() => ({ verified: false as const, authenticationInfo: undefined })) // it rejects what it does not accept
  if (!verified || !authenticationInfo) return null
  const counter = BigInt(authenticationInfo.newCounter)
  // An authenticator that counts never signs twice with the same number: two answers with one number are from a copy.
  const isNew = counter === 0n ? {} : { counter: { lt: counter } }
  const { count } = await ctx.prisma.passkey.updateMany({
    where: { id: stored.id, ...isNew },
    data: { counter, lastUsedAt: new Date(ctx.clock.now()) },
  })
  return count === 1 ? stored.userId : null
}

function bytesOf(challenge: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(challenge, 'base64url'))
}

// Returns the challenge that an authenticator has signed, or ''. The library compares it again.
function challengeOf(clientDataJSON: string): string {
  const text = Buffer.from(clientDataJSON, 'base64url').toString()
  const { challenge } = Object(parseJson(text)) as { challenge?: unknown }
  return typeof challenge === 'string' ? challenge : ''
}

/** What the answer to a challenge is for. An answer for one purpose is refused for every other. */
type Purpose =
  /** A sign-in whose password was right, and which waits for a second factor. */
  | 'sign_in'
  /** A sign-in by a passkey alone. */
  | 'passkey_sign_in'
  /** A passkey as the second factor, or as a confirmation. */
  | 'passkey'
  | 'passkey_enrolment'

const challengeMs = 5 * 60_000

/** Stores a challenge for five minutes. Returns its random text. `userId` is null when any user may answer it. */
export async function storeChallenge(ctx: Context, tx: PrismaTransaction, purpose: Purpose, userId: string | null) {
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
  ctx: Context,
  tx: PrismaTransaction,
  text: string,
  purpose: Purpose,
  userId: string | null,
): Promise<boolean> {
  const { count } = await tx.challenge.deleteMany({ where: { ...openChallenge(ctx, text, purpose), userId } })
  return count === 1
}

function openChallenge({ clock }: Context, text: string, purpose: Purpose) {
  return { hash: hashOneTimeToken(text), purpose, expiresAt: { gt: new Date(clock.now()) } }
}
