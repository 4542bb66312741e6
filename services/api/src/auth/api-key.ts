import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 32
const checksumLength = 6
const form = /^bf_[0-9A-Za-z]{22,64}$/

export type ApiKeyText = { key: string; prefix: string; hash: Uint8Array<ArrayBuffer> }

/** Makes an API key: `bf_`, 190 random bits in base62, and a checksum by which scanners recognize a leaked key. */
export function createApiKeyText(): ApiKeyText {
  const secret = Array.from({ length: secretLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const key = `bf_${secret}${checksum(secret)}`
  return { key, prefix: key.slice(0, 8), hash: hashApiKey(key) }
}

/** Returns whether a text has the form of a key, so a typo is rejected without a query. */
export function isApiKey(text: string): boolean {
  return form.test(text) && checksum(text.slice(3, -checksumLength)) === text.slice(-checksumLength)
}

/** Returns the hash that a key is stored and found by. */
export function hashApiKey(key: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(hashTextOf(key), 'base64'))
}

/** Returns the hash of a key in base64. */
export function hashTextOf(key: string): string {
  return hash('sha256', key, 'base64')
}

function checksum(secret: string): string {
  let rest = crc32(secret)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % alphabet.length] + text
    rest = Math.floor(rest / alphabet.length)
  }
  return text
}
