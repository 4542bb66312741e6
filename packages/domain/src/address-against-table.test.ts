import { BlockList } from 'node:net'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { expect, it } from 'vitest'
import { classifyAddress } from './address.ts'

const count = propertyRuns(1_000_000, 20_000)

// A second copy of IANA's registries, parsed by Node.
const specialV4 = ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'].concat(
  ['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32'],
)
const specialV6 = ['::/3', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '4000::/2', '8000::/1']

const blockedV4 = listOf(specialV4, 'ipv4')
const blockedV6 = listOf(specialV6, 'ipv6')

it(`agrees with a table of ranges on ${count} addresses`, () => {
  const random = seeded(20261121)
  const starts = specialV4.map(toNumber)
  const prefixes = [0x2001, 0x2002, 0x3fff, 0x2000, 0x4000, 0x2a00, 0xfd00, 0xfe80, 0x0064]
  const wrong: string[] = []
  for (let i = 0; i < count / 2; i++) {
    // Every second address lies close to the edge of a range.
    const near = (starts[i % starts.length] ?? 0) + Math.floor(random() * 2 ** (i % 17)) - (i % 3)
    const v4 = i % 2 ? toText(Math.floor(random() * 2 ** 32)) : toText((near + 2 ** 32) % 2 ** 32)
    if (blockedV4.check(v4) !== (classifyAddress(v4, []) === 'blocked')) wrong.push(v4)
    const groups = Array.from({ length: 8 }, () => Math.floor(random() * 0x10000))
    if (i % 2) groups[0] = prefixes[i % prefixes.length] ?? 0
    if (i % 4 === 1) groups[1] = Math.floor(random() * 0x400)
    const v6 = groups.map(group => group.toString(16)).join(':')
    if (blockedV6.check(v6, 'ipv6') !== (classifyAddress(v6, []) === 'blocked')) wrong.push(v6)
  }
  expect(wrong).toEqual([])
}, 120_000)

function listOf(ranges: string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}

function toNumber(address: string): number {
  return address.split('.').reduce((value, part) => value * 256 + Number.parseInt(part, 10), 0)
}

function toText(value: number): string {
  return [24, 16, 8, 0].map(shift => Math.floor(value / 2 ** shift) % 256).join('.')
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}
