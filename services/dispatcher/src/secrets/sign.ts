import {
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomUUID,
  sign as signAsymmetric,
} from 'node:crypto'
import type { SigningSecret } from '@belfry/db/secrets/signing-secrets'
import { privateKeyOf } from '@belfry/vault'

/** Returns the key of a signing secret: `whsec_` and base64. */
export function toSigningKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.replace('whsec_', ''), 'base64'))
}

/** Returns the keys that sign for a workspace with these secrets, in order: the shared secrets, then the key pairs. */
export function toSigningKeys(secrets: readonly SigningSecret[]): KeyObject[] {
  const pairs = secrets.filter(({ isAsymmetric }) => isAsymmetric)
  return [...secrets.map(({ value }) => toSigningKey(value)), ...pairs.map(({ seed }) => privateKeyOf(seed))]
}

/**
 * Signs a delivery as Standard Webhooks requires: one signature for each key, in order. A shared secret makes a `v1`
 * signature, a private Ed25519 key a `v1a` signature.
 */
export function sign(keys: readonly KeyObject[], id: string, timestamp: string, body: Buffer | string): string {
  const signatures = keys.map(key => {
    if (key.type === 'private') {
      const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(body)])
      return `v1a,${signAsymmetric(null, signed, key).toString('base64')}`
    }
    const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body)
    return `v1,${hmac.digest('base64')}`
  })
  return signatures.join(' ')
}

const messageHeader = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')
const messageLifetimeS = 300

/**
 * Signs a message of the QStash interface: a JWT with the URL and the hash of the body.
 * @param at - The time of the attempt, in seconds.
 */
export function signMessage(key: KeyObject, url: string, at: number, body: Buffer | string): string {
  const claims = {
    iss: 'Upstash',
    sub: url,
    exp: at + messageLifetimeS,
    nbf: at,
    iat: at,
    jti: `jwt_${randomUUID()}`,
    // The padding is part of what verifiers compare.
    body: createHash('sha256').update(body).digest('base64').replaceAll('+', '-').replaceAll('/', '_'),
  }
  const text = `${messageHeader}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}
