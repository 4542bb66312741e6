import { networkInterfaces } from 'node:os'
import { parseCidrs } from '@belfry/domain/address'
import { expect, it, vi } from 'vitest'
import { createOwnListeners, type Listener } from '../../src/egress/own-listeners.ts'

const names: Record<string, string[]> = {
  'db.internal': ['10.0.0.5'],
  'managed.example': ['8.8.8.8', '8.8.4.4'],
  'front.example': ['9.9.9.9', '10.0.0.9'],
  localhost: ['127.0.0.1', '::1'],
}
const resolve = async (name: string) => names[name] ?? []
const here = () => parseCidrs('127.0.0.0/8,::1/128,192.168.7.7/32,203.0.113.7/32')

async function listening(...listeners: Listener[]) {
  const own = createOwnListeners(listeners, resolve, new Set(), here)
  await own.refresh()
  return own
}

it('recognizes a listener by its addresses and its port, including public addresses', async () => {
  const own = await listening({ host: 'db.internal', port: 5432 }, { host: 'managed.example', port: 6379 })
  expect(own.includesAddress('10.0.0.5', 5432)).toBe(true)
  expect(own.includesAddress('::ffff:a00:5', 5432)).toBe(true)
  expect(own.includesAddress('8.8.4.4', 6379)).toBe(true)
  expect(own.includesAddress('10.0.0.5', 6379)).toBe(false)
  expect(own.includesAddress('8.8.8.8', 5432)).toBe(false)
})

it.each(['localhost', '127.0.0.1', '192.168.7.7'])(
  'recognizes a listener on this machine (%s) at all its addresses',
  async host => {
    const own = await listening({ host, port: 3000 })
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '192.168.7.7', '203.0.113.7', '::ffff:127.0.0.1']) {
      expect(own.includesAddress(address, 3000)).toBe(true)
      expect(own.includesAddress(address, 3001)).toBe(false)
    }
    expect(own.includesAddress('192.168.7.8', 3000)).toBe(false)
  },
)

it('recognizes a front end by its name, and by its address only if that is private', async () => {
  const own = await listening({ host: 'front.example', port: 443, isShared: true })
  expect(own.includesName('Front.Example.', 443)).toBe(true)
  expect(own.includesName('front.example', 8443)).toBe(false)
  expect(own.includesAddress('10.0.0.9', 443)).toBe(true)
  expect(own.includesAddress('9.9.9.9', 443)).toBe(false)
})

it('recognizes a service of others by its private addresses only, and not by its name', async () => {
  const own = await listening({ host: 'front.example', port: 443, isShared: true, isForeign: true })
  expect(own.includesName('front.example', 443)).toBe(false)
  expect(['10.0.0.9', '9.9.9.9'].map(address => own.includesAddress(address, 443))).toEqual([true, false])
})

it('recognizes the ports of this process, also those that it opens later', () => {
  const ports = new Set<number>()
  const own = createOwnListeners([], resolve, ports, here)
  expect(own.includesAddress('127.0.0.1', 8080)).toBe(false)
  ports.add(8080)
  expect(['127.0.0.1', '127.9.9.9', '192.168.7.7'].map(address => own.includesAddress(address, 8080))).toEqual([
    ...[true, true, true],
  ])
  expect(own.includesAddress('10.0.0.5', 8080)).toBe(false)
})

it('ignores addresses that are not valid', async () => {
  const odd = createOwnListeners(
    [{ host: 'db.internal', port: 5432 }],
    async () => ['fe80::1%eth0', 'nonsense'],
    new Set(),
    here,
  )
  await odd.refresh()
  expect(odd.includesAddress('fe80::1', 5432)).toBe(true)
  expect(odd.includesAddress('10.0.0.5', 5432)).toBe(false)
})

it('keeps the addresses of a name that cannot be resolved', async () => {
  const changing = vi.fn(async () => ['10.0.0.1'])
  const own = createOwnListeners([{ host: 'db.internal', port: 5432 }], changing, new Set(), here)
  await own.refresh()
  changing.mockRejectedValueOnce(new Error('ETIMEOUT')).mockResolvedValueOnce([])
  await own.refresh()
  await own.refresh()
  expect(own.includesAddress('10.0.0.1', 5432)).toBe(true)
  changing.mockResolvedValueOnce(['10.0.0.2'])
  await own.refresh()
  expect([1, 2].map(n => own.includesAddress(`10.0.0.${n}`, 5432))).toEqual([false, true])
})

it('reads the addresses of this machine from the operating system', () => {
  const own = createOwnListeners([{ host: '127.0.0.1', port: 80 }], resolve)
  const all = Object.values(networkInterfaces()).flatMap(entries => entries ?? [])
  expect(all.length).toBeGreaterThan(0)
  for (const { address } of all) expect(own.includesAddress(address, 80)).toBe(true)
})
