import { lookup as lookUpAtSystem } from 'node:dns/promises'
import { parseCidrs } from '@belfry/domain'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  type AddressGuard,
  BlockedAddressError,
  createAddressGuard,
  createConnect,
  NameResolutionError,
} from '../../src/egress/guard-address.ts'

const loopback = parseCidrs('127.0.0.0/8,::1/128')

afterEach(() => {
  vi.useRealTimers()
})

describe('lookup', () => {
  it('hands out every address, or the first if only one is wanted', async () => {
    const guard = createAddressGuard([], async () => ['8.8.8.8', '2606:4700::1'])
    expect(await lookUp(guard, 'example.com')).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ])
    const one = new Promise(resolve => guard.lookup('example.com', {}, (...result) => resolve(result)))
    expect(await one).toEqual([null, '8.8.8.8', 4])
  })

  it.each(['10.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254', 'fe80::1%eth0', 'nonsense'])(
    'refuses a name if just one of its addresses is %s',
    async address => {
      for (const addresses of [[address], ['8.8.8.8', address], [address, '8.8.8.8']]) {
        const guard = createAddressGuard([], async () => addresses)
        await expect(lookUp(guard, 'example.com')).rejects.toThrow(BlockedAddressError)
      }
    },
  )

  it('hands out private addresses in opened ranges', async () => {
    const guard = createAddressGuard(parseCidrs('10.0.0.0/8'), async () => ['10.0.0.1', '8.8.8.8'])
    expect(await lookUp(guard, 'inside.example')).toHaveLength(2)
  })

  it('tells a name without addresses from a blocked one', async () => {
    const none = createAddressGuard([], async () => [])
    const broken = createAddressGuard([], () => Promise.reject(new Error('ESERVFAIL')))
    for (const guard of [none, broken]) {
      await expect(lookUp(guard, 'example.com')).rejects.toThrow(NameResolutionError)
    }
  })

  it('gives up a name after 5 seconds', async () => {
    vi.useFakeTimers()
    const guard = createAddressGuard([], () => new Promise(() => {}))
    const failed = expect(lookUp(guard, 'slow.example')).rejects.toThrow(NameResolutionError)
    await vi.advanceTimersByTimeAsync(4_999)
    expect(await Promise.race([failed, 'still waiting'])).toBe('still waiting')
    await vi.advanceTimersByTimeAsync(1)
    await failed
  })

  it('asks once for concurrent look-ups and again after 5 seconds', async () => {
    vi.useFakeTimers()
    const resolve = vi.fn(async () => ['8.8.8.8'])
    const guard = createAddressGuard([], resolve)
    await Promise.all([lookUp(guard, 'a.example'), lookUp(guard, 'a.example'), lookUp(guard, 'b.example')])
    await vi.advanceTimersByTimeAsync(4_999)
    await lookUp(guard, 'a.example')
    expect(resolve.mock.calls).toEqual([['a.example'], ['b.example']])
    await vi.advanceTimersByTimeAsync(1)
    await lookUp(guard, 'a.example')
    expect(resolve).toHaveBeenCalledTimes(3)
  })

  it('does not remember a failure', async () => {
    const answers = [['10.0.0.1'], [], ['8.8.8.8']]
    const guard = createAddressGuard([], async () => answers.shift() ?? [])
    await expect(lookUp(guard, 'example.com')).rejects.toThrow(BlockedAddressError)
    await expect(lookUp(guard, 'example.com')).rejects.toThrow(NameResolutionError)
    expect(await lookUp(guard, 'example.com')).toHaveLength(1)
  })

  it('knows the names of the operating system, and judges them as well', async () => {
    const expected = await lookUpAtSystem('localhost', { all: true })
    expect(await lookUp(createAddressGuard(loopback), 'localhost')).toEqual(expected)
    await expect(lookUp(createAddressGuard([]), 'localhost')).rejects.toThrow(BlockedAddressError)
  })

  it('survives more unknown system names at once than it looks up at a time', async () => {
    const guard = createAddressGuard(loopback)
    const unknown = Array.from({ length: 3 }, (_, i) => lookUp(guard, `no-such-host-${i}`))
    const outcomes = await Promise.allSettled([...unknown, lookUp(guard, 'localhost')])
    expect(outcomes.map(({ status }) => status)).toEqual([...Array(3).fill('rejected'), 'fulfilled'])
  })
})

describe('connect', () => {
  it.each(['127.0.0.1', '10.0.0.1', '::1', '::ffff:7f00:1'])(
    'opens no socket to the literal %s, for which Node asks no lookup',
    async hostname => {
      const lookup = vi.fn()
      const connect = createConnect({ permits: createAddressGuard([]).permits, lookup })
      const error = await new Promise(resolve => {
        expect(connect({ hostname, protocol: 'http:', port: '80' }, (...[error]) => resolve(error))).toBeNull()
      })
      expect(error).toBeInstanceOf(BlockedAddressError)
      expect(lookup).not.toHaveBeenCalled()
    },
  )
})

function lookUp(guard: AddressGuard, hostname: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    guard.lookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)))
  })
}
