import { createHash, createHmac, createSecretKey, type KeyObject, randomUUID } from 'node:crypto'

/** Returns the key of a signing secret, which is `whsec_` and base64. */
export function toSigningKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.replace('whsec_', ''), 'base64'))
}

/** Signs a delivery as Standard Webhooks requires: one signature for each key, in order. */
export function sign(keys: readonly KeyObject[], id: string, timestamp: string, body: Buffer | string): string {
  const signatures = keys.map(key => {
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
