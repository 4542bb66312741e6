import { hkdfSync, type KeyObject } from 'node:crypto'
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose'

const algorithms = { alg: 'dir', enc: 'A256GCM' } as const

/** What a sealed text is for: a text of one purpose cannot be opened for another. */
type Purpose = 'sign-in' | 'sign-out'

/** Encrypts and authenticates a small object with the secret of sessions. */
export function sealText(key: KeyObject, purpose: Purpose, content: JWTPayload, validMs: number, now: number) {
  const expiresAt = Math.floor((now + validMs) / 1000)
  return new EncryptJWT(content)
    .setProtectedHeader(algorithms)
    .setExpirationTime(expiresAt)
    .encrypt(derivedKey(key, purpose))
}

/** Returns the content of a sealed text; null when none of the keys has sealed it, it is for something else, or too old. */
export async function openText(keys: readonly KeyObject[], purpose: Purpose, text: string, now: number) {
  const rules = {
    currentDate: new Date(now),
    requiredClaims: ['exp'],
    keyManagementAlgorithms: [algorithms.alg],
    contentEncryptionAlgorithms: [algorithms.enc],
  }
  for (const key of keys) {
    const opened = await jwtDecrypt(text, derivedKey(key, purpose), rules).catch(() => null)
    if (opened) return opened.payload
  }
  return null
}

function derivedKey(key: KeyObject, purpose: Purpose): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(), `belfry:oidc:${purpose}`, 32))
}
