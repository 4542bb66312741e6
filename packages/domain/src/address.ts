import ipaddr from 'ipaddr.js'

/** A range of addresses; IPv4 ranges written in their IPv4-mapped form count as IPv4. */
export type Cidr = { bytes: readonly number[]; prefix: number }

// Compared here: the library checks all of its ranges and takes ten times as long.
const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

// Everything in the IANA special-purpose registry that is not globally reachable.
const specialV4 = parseCidrs(
  '0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,169.254.0.0/16,172.16.0.0/12,192.0.0.0/24,192.0.2.0/24,' +
    '192.88.99.0/24,192.168.0.0/16,198.18.0.0/15,198.51.100.0/24,203.0.113.0/24,224.0.0.0/4,240.0.0.0/4',
)
// For IPv6 the list is inverted: only global unicast is public, so space assigned later stays blocked.
const globalV6 = parseCidrs('2000::/3')
const specialV6 = parseCidrs('2001::/23,2001:db8::/32,2002::/16,3fff::/20')

// Cloud metadata services. They serve credentials, and an operator who allows a whole range rarely means them.
const metadata = parseCidrs(
  '169.254.169.254/32,169.254.169.253/32,169.254.170.2/32,169.254.170.23/32,100.100.100.200/32,168.63.129.16/32,' +
    '192.0.0.192/32,fd00:ec2::254/128,fd00:ec2::253/128,fd00:ec2::23/128,fd20:ce::254/128',
)

/**
 * Parses comma-separated ranges.
 * @throws Error that names the first malformed one.
 */
export function parseCidrs(text: string): Cidr[] {
  if (text.trim() === '') return []
  return text.split(',').map(entry => {
    const cidr = parseCidr(entry.trim())
    if (cidr !== null) return cidr
    throw new Error(`"${entry.trim()}" is not a range such as 10.0.0.0/8 (bits beyond the prefix must be zero).`)
  })
}

/** Formats a range for `parseCidrs`. */
export function formatCidr({ bytes, prefix }: Cidr): string {
  return `${ipaddr.fromByteArray([...bytes])}/${prefix}`
}

/** Returns whether an address lies in one of the ranges; false for text that is not an address. */
export function isWithin(address: string, ranges: readonly Cidr[]): boolean {
  const bytes = parseAddress(address)
  return bytes !== null && isIn(ranges, bytes)
}

/** Returns whether a connection to an address is allowed: it is public, or in a range that the operator allows. */
export function classifyAddress(address: string, allowed: readonly Cidr[]): 'allowed' | 'blocked' {
  const bytes = parseAddress(address)
  return bytes !== null && mayConnect(bytes, allowed) ? 'allowed' : 'blocked'
}

/**
 * Returns whether a URL's host is blocked regardless of DNS, so a task can be refused early. This check is a courtesy: the
 * dispatcher checks the resolved address of every connection.
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

/** Returns the network of one household or server: an IPv4 address, or the /64 of an IPv6 address. Returns other text as is. */
export function networkOf(address: string): string {
  return networksOf(address)[0] ?? address
}

/** Returns the networks of an address, from small to large. One customer may hold an IPv6 /64, /48 or /32. */
export function networksOf(address: string): string[] {
  const bytes = parseAddress(address)
  if (bytes === null) return [address]
  if (bytes.length === 4) return [bytes.join('.')]
  return [64, 48, 32].map(prefix => {
    const kept = bytes.map((byte, i) => (i < prefix / 8 ? byte : 0))
    return `${ipaddr.fromByteArray(kept)}/${prefix}`
  })
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

// The library also accepts 0x7f.1 and 010.0.0.1, where programs disagree about the value. They are rejected here. For
// text that is not IPv4 it throws and catches an error. That takes ten times as long as the rest of this function.
function parseAddress(text: string): readonly number[] | null {
  if (/^[\d.]+$/.test(text)) return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text).octets : null
  if (!ipaddr.IPv6.isValid(text) || text.includes('%')) return null
  const bytes = ipaddr.IPv6.parse(text).toByteArray()
  return mappedPrefix.every((byte, index) => bytes[index] === byte) ? bytes.slice(mappedPrefix.length) : bytes
}
