import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

/** The context of a sealed value, which cannot be opened with another context. */
export type SealedFor = Buffer

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Encrypts and authenticates bytes with a random nonce. Returns nonce, ciphertext and tag. */
export function seal(key: KeyObject, plain: Uint8Array, sealedFor: SealedFor): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(sealedFor)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/**
 * Decrypts the result of `seal` with the same key and context.
 * @throws Error for other input; its message reveals nothing about the content.
 */
export function open(key: KeyObject, sealed: Uint8Array, sealedFor: SealedFor): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new Error('The sealed value is too short.')
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(sealedFor).setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
}
