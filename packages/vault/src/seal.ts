import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

/** What a sealed value is bound to: sealed for one thing, it cannot be opened as another. */
export type SealedFor = Buffer

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Encrypts and authenticates bytes under a fresh random nonce: nonce, ciphertext, tag. */
export function seal(key: KeyObject, plain: Uint8Array, sealedFor: SealedFor): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(sealedFor)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/**
 * Decrypts what `seal` has made with the same key and for the same thing.
 * @throws Error for anything else; its message tells nothing about the contents.
 */
export function open(key: KeyObject, sealed: Uint8Array, sealedFor: SealedFor): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new Error('The sealed value is too short.')
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(sealedFor).setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
}
