import { type CredentialOfWorkspace, orderIssuerKeys } from '@belfry/db/federation/issuer-keys'
import type { FederatedCredential } from '@belfry/db/generated/client'
import { addToOutbox, awaitOutboxOutcome } from '@belfry/db/outbox/outbox'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import { type ClaimConditions, unmetCondition } from '@belfry/domain/claim-conditions'
import { newUuid } from '@belfry/domain/id'
import type { Message } from '@belfry/messages'
import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import type { Context } from '../context.ts'

type Trust = Pick<FederatedCredential, 'id' | 'workspaceId' | 'issuer' | 'audience'> & { conditions: ClaimConditions }

// Signatures with a private key. A signature with a shared secret could be made with the published key as the secret.
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const clockToleranceS = 30
const maxValidMs = 24 * 3_600_000
const maxSubjectLength = 1_000
// PostgreSQL cannot store NUL, or half of a surrogate pair in JSON.
const subjectForm = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${maxSubjectLength}}$`, 'u')

/**
 * Verifies the token of a job. Returns the identity that it proves.
 * @throws AppError `unauthenticated` unless the issuer has signed it for the audience, it is valid now, and it meets all
 * conditions; `unavailable` when the keys of the issuer are unknown.
 */
export async function verifyToken(ctx: Context, trust: Trust, token: string) {
  if (issuerOf(token) !== trust.issuer) throw refusal('The token is not of the issuer of the credential.')
  const claims = await verifiedClaims(ctx, trust, token)
  const { sub: subject, exp = 0 } = claims
  if (typeof subject !== 'string' || !subjectForm.test(subject)) {
    throw refusal(`The subject of the token is not a text of 1 to ${maxSubjectLength} characters.`)
  }
  const expiresAtMs = exp * 1000
  if (expiresAtMs > ctx.clock.now() + maxValidMs) throw refusal('The token is valid for more than a day.')
  const unmet = unmetCondition(trust.conditions, claims)
  if (unmet !== null) throw refusal(`The claim ${unmet} of the token does not meet its condition.`)
  return { subject, expiresAt: new Date(expiresAtMs) }
}

async function verifiedClaims(ctx: Context, trust: Trust, token: string): Promise<JWTPayload> {
  const known = await readIssuerKeys(ctx, trust)
  const rules = {
    issuer: trust.issuer,
    audience: trust.audience,
    algorithms,
    clockTolerance: clockToleranceS,
    currentDate: new Date(ctx.clock.now()),
    requiredClaims: ['sub', 'exp'],
  }
  const verify = async ({ keys }: IssuerKeys) => (await jwtVerify(token, createLocalJWKSet(keys), rules)).payload
  try {
    return await verify(known)
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw refusalOf(error)
  }
  // The issuer may have new keys.
  return verify(await readIssuerKeys(ctx, trust, known)).catch(error => {
    throw refusalOf(error)
  })
}

function issuerOf(token: string): unknown {
  try {
    return decodeJwt(token).iss
  } catch {
    throw refusal('The token is not a signed JWT.')
  }
}

const claimRefusals: Readonly<Record<string, string>> = {
  aud: 'The token is for another audience.',
  nbf: 'The token is not valid yet.',
  sub: 'The token has no subject.',
  exp: 'The token does not say when it expires.',
}

/** The refusal of a token, in a sentence for the author of the job. */
export function refusal(message: string, cause?: unknown): AppError {
  return new AppError('unauthenticated', message, { cause })
}

// A key of the issuer may be malformed or too short.
function refusalOf(cause: unknown): Error {
  const isRefusal = [errors.JOSEError, TypeError, DOMException].some(kind => cause instanceof kind)
  if (!isRefusal) return cause as Error // a fault
  return refusal(sentenceOf(cause), cause)
}

// Never a text of the library or of the token.
function sentenceOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.'
  if (error instanceof errors.JWTClaimValidationFailed) {
    return claimRefusals[error.claim] ?? 'The token has a malformed claim.'
  }
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'The token is signed with a key that its issuer does not publish.'
  return 'The signature of the token is not valid.'
}

type IssuerKeys = { keys: JSONWebKeySet; readAt: Date }

const freshMs = 3_600_000
// Keys stay valid for a day while their issuer does not answer, to keep jobs running. After that they may be withdrawn.
const maxAgeMs = 24 * freshMs
// An issuer is asked at most this often, however many tokens name unknown keys.
const orderPauseMs = 30_000
const waitMs = 12_000
const usefulMs = 10_000

/**
 * Returns the keys of a credential's issuer, at most an hour old if the issuer answers. Only dispatchers call addresses
 * that users chose, so a dispatcher reads the keys and stores them.
 * @param tooOld - Keys that lack the key of a token. Newer ones are returned, or the same if the issuer was just asked.
 * @throws AppError `unavailable` when there are no keys of the last day.
 */
async function readIssuerKeys(ctx: Context, credential: CredentialOfWorkspace, tooOld?: IssuerKeys) {
  const known = await storedKeys(ctx, credential)
  const isNews = tooOld === undefined || (known !== null && known.readAt > tooOld.readAt)
  if (known && isNews && ageOf(ctx, known) < freshMs) return known
  const error = await orderOnce(ctx, credential)
  const read = await storedKeys(ctx, credential)
  if (read && ageOf(ctx, read) < maxAgeMs) return read
  const message = `The keys of the issuer could not be read. ${error ?? 'No dispatcher has read them in time.'}`
  throw new AppError('unavailable', message, { retryAfterMs: orderPauseMs })
}

function ageOf({ clock }: Context, { readAt }: IssuerKeys): number {
  return clock.now() - readAt.getTime()
}

async function storedKeys({ prisma }: Context, { id, workspaceId }: CredentialOfWorkspace): Promise<IssuerKeys | null> {
  const select = { keys: true, keysReadAt: true }
  const row = await prisma.federatedCredential.findFirst({ where: { id, workspaceId }, select })
  if (!row?.keys || !row.keysReadAt) return null
  return { keys: row.keys as unknown as JSONWebKeySet, readAt: row.keysReadAt } // as a dispatcher has checked it
}

// Any number of requests wait for one order, so a flood costs the database one poll in each process.
function orderOnce(ctx: Context, credential: CredentialOfWorkspace): Promise<string | null> {
  const order =
    ctx.keyOrders.get(credential.id) ?? orderKeys(ctx, credential).finally(() => ctx.keyOrders.delete(credential.id))
  ctx.keyOrders.set(credential.id, order)
  return order
}

// Returns why the keys could not be read; null when they were, or when no answer came in time.
async function orderKeys(ctx: Context, credential: CredentialOfWorkspace): Promise<string | null> {
  const messageId = newUuid()
  const lastMessageId = await inTransaction(ctx.pool, async tx => {
    const last = await orderIssuerKeys(tx, credential, messageId, orderPauseMs)
    if (last === messageId) {
      const { id: credentialId, workspaceId } = credential
      const content: Message = { type: 'issuer_keys', workspaceId, credentialId }
      const message = { kind: 'webhook', label: 'issuer keys', content: JSON.stringify(content) } as const
      await addToOutbox(tx, { id: messageId, ...message, masterKeys: null, usefulMs, tenant: { workspaceId } })
    }
    return last
  })
  const outcome = lastMessageId && (await awaitOutboxOutcome(ctx.pool, lastMessageId, waitMs))
  return outcome ? outcome.error : null
}
