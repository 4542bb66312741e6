import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { MasterKey, MasterKeys } from './master-keys.ts'

const hashBytes = 32
const signatureBytes = 16

/**
 * Returns the token of the link in a mail by which its recipient ends the alerts.
 * @param addressHash - The hash of the address, because the token stands in URLs and proxies log URLs.
 */
export function unsubscribeToken({ current }: MasterKeys, addressHash: Uint8Array): string {
  return Buffer.concat([addressHash, signatureOf(current, addressHash)]).toString('base64url')
}

/** Returns the hash of the address in a token, or null if this installation did not make it. It never expires. */
export function readUnsubscribeToken({ all }: MasterKeys, token: string): Buffer | null {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== hashBytes + signatureBytes) return null
  const [addressHash, signature] = [bytes.subarray(0, hashBytes), bytes.subarray(hashBytes)]
  return [...all.values()].some(key => timingSafeEqual(signatureOf(key, addressHash), signature)) ? addressHash : null
}

function signatureOf({ key }: MasterKey, addressHash: Uint8Array): Buffer {
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'belfry unsubscribe', 32))
  return createHmac('sha256', derived).update(addressHash).digest().subarray(0, signatureBytes)
}
