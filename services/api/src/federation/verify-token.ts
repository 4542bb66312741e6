import { type ClaimConditions, unmetCondition } from '@belfry/domain/claim-conditions'
import { createLocalJWKSet, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import type { Context } from '../context.ts'
import { readIssuerKeys } from './issuer-keys.ts'

/** What a workspace trusts. */
export type Trust = {
  id: string
  workspaceId: string
  issuer: string
  audience: string
  conditions: ClaimConditions
}

/** The identity of a job, as its token proves it. */
export type JobIdentity = { subject: string; expiresAt: Date }

/** A token that a federated credential does not accept. The message is a sentence for the author of the job. */
export class RefusedTokenError extends Error {}

// Signatures with a private key. A signature with a shared secret could be made with the published key as the secret.
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const clockToleranceS = 30
const maxValidMs = 24 * 3_600_000
const maxSubjectLength = 1_000
// PostgreSQL stores no NUL, and JSON there no half of a surrogate pair.
const subjectForm = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${maxSubjectLength}}$`, 'u')

/**
 * Verifies the token of a job.
 * @throws RefusedTokenError unless the issuer has signed it for the audience, it is valid now, and it meets all conditions.
 * @throws AppError `unavailable` when the keys of the issuer are unknown.
 */
export async function verifyToken(ctx: Context, trust: Trust, token: string): Promise<JobIdentity> {
  if (issuerOf(token) !== trust.issuer) throw new RefusedTokenError('The token is not of the issuer of the credential.')
  const claims = await verifiedClaims(ctx, trust, token)
  const { sub: subject, exp = 0 } = claims
  if (typeof subject !== 'string' || !subjectForm.test(subject)) {
    throw new RefusedTokenError(`The subject of the token is not a text of 1 to ${maxSubjectLength} characters.`)
  }
  const expiresAtMs = exp * 1000
  if (expiresAtMs > ctx.clock.now() + maxValidMs) {
    throw new RefusedTokenError('The token is valid for more than a day.')
  }
  const unmet = unmetCondition(trust.conditions, claims)
  if (unmet !== null) throw new RefusedTokenError(`The claim ${unmet} of the token does not meet its condition.`)
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
  try {
    return (await jwtVerify(token, createLocalJWKSet(known.keys), rules)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw refusalOf(error)
  }
  // The issuer may have new keys.
  const { keys } = await readIssuerKeys(ctx, trust, known)
  try {
    return (await jwtVerify(token, createLocalJWKSet(keys), rules)).payload
  } catch (error) {
    throw refusalOf(error)
  }
}

function issuerOf(token: string): unknown {
  try {
    return decodeJwt(token).iss
  } catch {
    throw new RefusedTokenError('The token is not a signed JWT.')
  }
}

const claimRefusals: Readonly<Record<string, string>> = {
  aud: 'The token is for another audience.',
  nbf: 'The token is not valid yet.',
  sub: 'The token has no subject.',
  exp: 'The token does not say when it expires.',
}

// A key of the issuer may be malformed or too short.
function refusalOf(cause: unknown): Error {
  const isRefusal = [errors.JOSEError, TypeError, DOMException].some(kind => cause instanceof kind)
  if (!isRefusal) return cause as Error // a fault
  return new RefusedTokenError(sentenceOf(cause), { cause })
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
