import { createHash, randomBytes } from 'node:crypto'

/** Makes a token for a link that works once: 256 random bits, stored only as a hash. */
export function newOneTimeToken(): { token: string; tokenHash: Uint8Array<ArrayBuffer> } {
  const token = randomBytes(32).toString('base64url')
  return { token, tokenHash: hashOneTimeToken(token) }
}

export function hashOneTimeToken(token: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(token).digest())
}
