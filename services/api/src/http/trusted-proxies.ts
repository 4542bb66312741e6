import { isIP } from 'node:net'
import { parseCidrs } from '@belfry/domain'

const names = ['loopback', 'linklocal', 'uniquelocal']

/**
 * Reads which proxies may tell a caller's address, as Express takes it: false for none, a number of hops, or addresses.
 * "All" is not among them: then whoever calls would choose the address that they are counted by.
 * @throws Error that names what is wrong.
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
