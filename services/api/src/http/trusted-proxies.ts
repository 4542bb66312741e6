import { isIP } from 'node:net'
import { parseCidrs } from '@belfry/domain/address'

const names = ['loopback', 'linklocal', 'uniquelocal']

/**
 * Parses the proxies that may report a caller's address, as Express takes them: false for none, a number of hops, or
 * addresses. "All" is not allowed: callers could choose the address that limits count them by.
 * @throws Error with the reason.
 */
export function parseTrustedProxies(text: string): false | number | string[] {
  if (text.trim() === '') return false
  if (/^[1-9]$/.test(text.trim())) return Number(text)
  const entries = text.split(',').map(entry => entry.trim())
  for (const entry of entries) {
    if (entry === '') throw new Error('has an empty entry')
    if (!names.includes(entry) && !isIP(entry)) parseCidrs(entry)
  }
  return entries
}
