import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyAddress, formatCidr, hostIsVisiblyBlocked, isWithin, networkOf, parseCidrs } from './address.ts'

// First and last address of each blocked range, and the public neighbours on both sides (null where there is none).
const edgesV4: [range: string, first: string, last: string, before: string | null, after: string | null][] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', '223.255.255.255', null],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.255', null, null],
]

const edgesV6: [range: string, first: string, last: string, before: string | null, after: string | null][] = [
  ['below 2000::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, '2000::'],
  ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff::', '2001:200::'],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff::', '2001:db9::'],
  ['2002::/16', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff::', '2003::'],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff::', '3fff:1000::'],
  ['above 2000::/3', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff::', null],
]

const special = ['::1', '::7f00:1', '::ffff:0:7f00:1', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1', '5f00::1'].concat([
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  '2001:0:1::1',
  '2001:1::3',
  '2001:20::1',
])

const notAddresses = ['', ' ', 'example.com', '127.1', '0x7f.0.0.1', '0177.0.0.1', '2130706433', '1.2.3.4.5'].concat([
  '256.1.1.1',
  '01.2.3.4',
  '8.8.8.8 ',
  '8.8.8.8/32',
  '2606:4700::1%eth0',
  'fe80::1%1',
  ':::',
  '[2606:4700::1]',
])

describe('classifyAddress', () => {
  it.each([...edgesV4, ...edgesV6])(
    'blocks both edges of %s and neither neighbour',
    (_, first, last, before, after) => {
      expect([first, last].map(judge)).toEqual(['blocked', 'blocked'])
      for (const neighbour of [before, after]) if (neighbour !== null) expect(judge(neighbour)).toBe('allowed')
    },
  )

  it.each(edgesV4)('judges the IPv4-mapped form of %s by the inner address', (_, first, last, before, after) => {
    for (const address of [first, last]) expect(judge(`::ffff:${address}`)).toBe('blocked')
    for (const neighbour of [before, after]) {
      if (neighbour !== null) expect(judge(`::ffff:${neighbour}`)).toBe('allowed')
    }
  })

  it.each(special)('blocks %s', address => expect(judge(address)).toBe('blocked'))

  it.each(['1.1.1.1', '8.8.8.8', '2606:4700:4700::1111', '2a00:1450:4001:830::200e', '2001:4860:4860::8888'])(
    'allows the public address %s',
    address => expect(judge(address)).toBe('allowed'),
  )

  it.each(notAddresses)('blocks text that is not an address: "%s"', text => expect(judge(text)).toBe('blocked'))

  it('agrees with arithmetic on any IPv4 address, alone and mapped', () => {
    const blocked = edgesV4.map(([, first, last]) => [toNumber(first), toNumber(last)] as const)
    const nearAnEdge = fc
      .tuple(fc.constantFrom(...blocked.flat()), fc.integer({ min: -3, max: 3 }))
      .map(([edge, offset]) => (edge + offset + 2 ** 32) % 2 ** 32)
    fc.assert(
      fc.property(fc.oneof(fc.nat({ max: 2 ** 32 - 1 }), nearAnEdge), value => {
        const expected = blocked.some(([first, last]) => value >= first && value <= last) ? 'blocked' : 'allowed'
        expect(judge(toText(value))).toBe(expected)
        expect(judge(`::ffff:${toText(value)}`)).toBe(expected)
      }),
      { numRuns: propertyRuns(5_000) },
    )
  })

  it('agrees with arithmetic on any opened IPv4 range', () => {
    const prefixes = fc.integer({ min: 0, max: 32 })
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 24 - 1 }), prefixes, fc.nat({ max: 2 ** 24 - 1 }), (base, prefix, host) => {
        const size = 2 ** (32 - prefix)
        const first = Math.floor((toNumber('10.0.0.0') + base) / size) * size
        const value = toNumber('10.0.0.0') + host
        const opened = parseCidrs(`${toText(first)}/${prefix}`)
        expect(classifyAddress(toText(value), opened) === 'allowed').toBe(value >= first && value < first + size)
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })

  it('allows exactly the ranges that the operator has opened', () => {
    const opened = parseCidrs('10.1.0.0/16, fd00:1::/32')
    expect(classifyAddress('10.1.255.255', opened)).toBe('allowed')
    expect(classifyAddress('::ffff:10.1.0.1', opened)).toBe('allowed')
    expect(classifyAddress('10.2.0.0', opened)).toBe('blocked')
    expect(classifyAddress('10.0.255.255', opened)).toBe('blocked')
    expect(classifyAddress('fd00:1:ffff::1', opened)).toBe('allowed')
    expect(classifyAddress('fd00:2::1', opened)).toBe('blocked')
  })

  it('does not open private IPv4 by opening all of IPv6, nor the other way round', () => {
    expect(classifyAddress('::ffff:127.0.0.1', parseCidrs('::/0'))).toBe('blocked')
    expect(classifyAddress('::1', parseCidrs('0.0.0.0/0'))).toBe('blocked')
  })

  const metadata = ['169.254.169.254', '169.254.169.253', '169.254.170.2', '169.254.170.23', '100.100.100.200'].concat(
    ['168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'fd00:ec2::253', 'fd00:ec2::23', 'fd20:ce::254'],
    ['::ffff:169.254.169.254', '::ffff:a83f:8110'],
  )

  it.each(metadata)('blocks the metadata address %s, also inside a wider range, unless it is named', address => {
    const wide = parseCidrs('0.0.0.0/0,::/0,169.254.169.254/31,169.254.170.2/31,168.63.129.16/31,fd00:ec2::254/127')
    expect(judge(address)).toBe('blocked')
    expect(classifyAddress(address, wide)).toBe('blocked')
    expect(classifyAddress(address, parseCidrs(`${address}/${address.includes(':') ? 128 : 32}`))).toBe('allowed')
  })
})

describe('parseCidrs', () => {
  it('reads an empty text as no range', () => expect([parseCidrs(''), parseCidrs('  ')]).toEqual([[], []]))

  it('reads ranges with white space between them', () => {
    expect(parseCidrs(' 10.0.0.0/8 ,\t::1/128 ')).toHaveLength(2)
  })

  it('reads an IPv4-mapped range as the IPv4 range', () => {
    expect(parseCidrs('::ffff:10.0.0.0/104')).toEqual(parseCidrs('10.0.0.0/8'))
  })

  it.each(
    ['10.0.0.0', '10.0.0.1/8', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/08', '10.0.0.0/', '/8', '::/129'].concat([
      '10/8',
      'localhost/8',
      '::1/64',
      '::ffff:10.0.0.0/95',
      'fe80::%eth0/64',
      '10.0.0.0/8/8',
      '10.0.0.0/8 x',
    ]),
  )('names the malformed entry "%s"', entry => {
    expect(() => parseCidrs(`127.0.0.0/8,${entry}`)).toThrow(`"${entry}"`)
  })

  it('refuses an empty entry between commas', () => expect(() => parseCidrs('127.0.0.0/8,')).toThrow('""'))
})

it.each(['10.0.0.0/8', '127.0.0.1/32', 'fd00:1::/32', '::/0'])('formatCidr writes %s as it was read', range => {
  expect(parseCidrs(range).map(formatCidr)).toEqual([range])
})

it('isWithin finds an address in a range, and other text in none', () => {
  const ranges = parseCidrs('10.0.0.0/8,fd00::/8')
  expect(['10.1.2.3', '::ffff:10.1.2.3', 'fd00::1'].map(address => isWithin(address, ranges))).toEqual([
    true,
    true,
    true,
  ])
  expect(['11.0.0.0', 'fe00::', '', '10'].map(address => isWithin(address, ranges))).toEqual(Array(4).fill(false))
})

describe('hostIsVisiblyBlocked', () => {
  it.each(
    ['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.1', '0', '①②⑦.0.0.1', '127。0。0。1', '127.0.0.1.'].concat(
      ['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:0001]', '[64:ff9b::7f00:1]'],
      ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.b.localhost.', '169.254.169.254', '10.0.0.1'],
    ),
  )('refuses http://%s/', host => expect(hostIsVisiblyBlocked(new URL(`http://${host}/`).hostname, [])).toBe(true))

  it.each(['example.com', 'notlocalhost', 'localhost.example.com', '8.8.8.8', '[2606:4700::1]', 'internal'])(
    'leaves http://%s/ to the check at connect time',
    host => expect(hostIsVisiblyBlocked(new URL(`http://${host}/`).hostname, [])).toBe(false),
  )

  it.each(['127.0.0.1', '[::ffff:7f00:1]', 'localhost', 'a.localhost.'])('accepts %s once loopback is opened', host => {
    expect(hostIsVisiblyBlocked(host, parseCidrs('127.0.0.0/8'))).toBe(false)
  })
})

function judge(address: string): 'allowed' | 'blocked' {
  return classifyAddress(address, [])
}

function toNumber(address: string): number {
  return address.split('.').reduce((value, part) => value * 256 + Number(part), 0)
}

function toText(value: number): string {
  return [24, 16, 8, 0].map(shift => Math.floor(value / 2 ** shift) % 256).join('.')
}

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['nonsense', 'nonsense'],
])('counts %s as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
