import ipaddr from 'ipaddr.js'

/** A range of addresses; IPv4 ranges written in their IPv4-mapped form count as IPv4. */
export type Cidr = { bytes: readonly number[]; prefix: number }

// Compared here because the library goes through all of its ranges for it, which takes ten times as long.
const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

// Everything in the IANA special-purpose registry that is not globally reachable.
const specialV4 = parseCidrs(
  '0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,169.254.0.0/16,172.16.0.0/12,192.0.0.0/24,192.0.2.0/24,' +
    '192.88.99.0/24,192.168.0.0/16,198.18.0.0/15,198.51.100.0/24,203.0.113.0/24,224.0.0.0/4,240.0.0.0/4',
)
// For IPv6 the list is turned round: only global unicast is public, so space assigned later stays closed.
const globalV6 = parseCidrs('2000::/3')
const specialV6 = parseCidrs('2001::/23,2001:db8::/32,2002::/16,3fff::/20')

// Where clouds hand out credentials: an operator who opens a whole range rarely means these.
const metadata = parseCidrs(
  '169.254.169.254/32,169.254.169.253/32,169.254.170.2/32,169.254.170.23/32,100.100.100.200/32,168.63.129.16/32,' +
    '192.0.0.192/32,fd00:ec2::254/128,fd00:ec2::253/128,fd00:ec2::23/128,fd20:ce::254/128',
)

/** Parses ranges separated by commas, and throws an Error that names the first malformed one. */
export function parseCidrs(text: string): Cidr[] {
  if (text.trim() === '') return []
  return text.split(',').map(entry => {
    const cidr = parseCidr(entry.trim())
    if (cidr !== null) return cidr
    throw new Error(`"${entry.trim()}" is not a range such as 10.0.0.0/8 (bits beyond the prefix must be zero).`)
  })
}

/** Writes a range as `parseCidrs` reads it. */
export function formatCidr({ bytes, prefix }: Cidr): string {
  return `${ipaddr.fromByteArray([...bytes])}/${prefix}`
}

/** Tells whether an address lies in one of the ranges; what is not an address lies in none. */
export function isWithin(address: string, ranges: readonly Cidr[]): boolean {
  const bytes = parseAddress(address)
  return bytes !== null && isIn(ranges, bytes)
}

/** Tells whether an address may be connected to: it is public, or the operator has opened a range that holds it. */
export function classifyAddress(address: string, allowed: readonly Cidr[]): 'allowed' | 'blocked' {
  const bytes = parseAddress(address)
  return bytes !== null && mayConnect(bytes, allowed) ? 'allowed' : 'blocked'
}

/**
 * Tells whether a URL's host is refused whatever DNS says, so that it can be refused before it is stored. Only a
 * courtesy: names are judged by what they resolve to, when they are connected to.
 */
export function hostIsVisiblyBlocked(hostname: string, allowed: readonly Cidr[]): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^\[|\]$/g, '')
  const isLocalhost = host === 'localhost' || host.endsWith('.localhost')
  const addresses = isLocalhost ? ['127.0.0.1', '::1'] : [host]
  return addresses.every(address => {
    const bytes = parseAddress(address)
    return bytes !== null && !mayConnect(bytes, allowed)
  })
}

/** What one person's machines share: an IPv4 address, or the first half of an IPv6 address. Other text stays as it is. */
export function networkOf(address: string): string {
  const bytes = parseAddress(address)
  if (bytes === null) return address
  return bytes.length === 4
    ? bytes.join('.')
    : `${ipaddr.fromByteArray([...bytes.slice(0, 8), ...Array(8).fill(0)])}/64`
}

function mayConnect(bytes: readonly number[], allowed: readonly Cidr[]): boolean {
  const opened = allowed.filter(cidr => contains(cidr, bytes))
  if (isIn(metadata, bytes)) return opened.some(cidr => cidr.prefix === bytes.length * 8)
  return opened.length > 0 || isPublic(bytes)
}

function isPublic(bytes: readonly number[]): boolean {
  return bytes.length === 4 ? !isIn(specialV4, bytes) : isIn(globalV6, bytes) && !isIn(specialV6, bytes)
}

function isIn(ranges: readonly Cidr[], bytes: readonly number[]): boolean {
  return ranges.some(cidr => contains(cidr, bytes))
}

function contains({ bytes: network, prefix }: Cidr, bytes: readonly number[]): boolean {
  if (network.length !== bytes.length) return false
  for (let index = 0, bits = prefix; bits > 0; index++, bits -= 8) {
    const beyond = Math.max(8 - bits, 0)
    if ((bytes[index] ?? 0) >> beyond !== (network[index] ?? 0) >> beyond) return false
  }
  return true
}

function parseCidr(text: string): Cidr | null {
  const [, address = '', digits = ''] = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  const bytes = parseAddress(address)
  if (bytes === null) return null
  const isMapped = address.includes(':') && bytes.length === 4
  const prefix = Number(digits) - (isMapped ? 96 : 0)
  if (prefix < 0 || prefix > bytes.length * 8) return null
  const hasHostBits = bytes.some((byte, index) => byte & (0xff >> Math.min(Math.max(prefix - index * 8, 0), 8)))
  return hasHostBits ? null : { bytes, prefix }
}

// The library also reads 0x7f.1 and 010.0.0.1, where programs disagree about the value; no such form is an address here.
// It throws and catches an error for any text that is not an IPv4 address, which takes ten times as long as the rest of this function.
function parseAddress(text: string): readonly number[] | null {
  if (/^[\d.]+$/.test(text)) return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text).octets : null
  if (!ipaddr.IPv6.isValid(text) || text.includes('%')) return null
  const bytes = ipaddr.IPv6.parse(text).toByteArray()
  return mappedPrefix.every((byte, index) => bytes[index] === byte) ? bytes.slice(mappedPrefix.length) : bytes
}
