import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

// The ASN.1 before the 32 bytes of an Ed25519 seed in PKCS #8 (RFC 8410).
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Returns the private Ed25519 key of a seed of 32 bytes. */
export function privateKeyOf(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' })
}

/** Returns the public key of a seed as Standard Webhooks writes it: `whpk_` and base64. */
export function publicKeyOf(seed: Buffer): string {
  const { x = '' } = createPublicKey(privateKeyOf(seed)).export({ format: 'jwk' })
  return `whpk_${Buffer.from(x, 'base64url').toString('base64')}`
}
