import { parseCidrs } from '@belfry/domain/address'
import { afterEach, expect, it, vi } from 'vitest'
import { NameResolutionError } from '../../src/egress/call-errors.ts'
import { createAddressGuard } from '../../src/egress/guard-address.ts'
import { createOwnListeners } from '../../src/egress/own-listeners.ts'
import type { Resolve } from '../../src/egress/resolve-name.ts'

const blocked = { failure: 'blocked_address' }

afterEach(() => {
  vi.useRealTimers()
})

it('returns every address of a name', async () => {
  expect(await guard(async () => ['8.8.8.8', '2606:4700::1']).check('example.com', 80)).toEqual([
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1', family: 6 },
  ])
})

it.each(['10.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254', 'fe80::1%eth0', 'nonsense'])(
  'refuses a name when one of its addresses is %s',
  async address => {
    for (const addresses of [[address], ['8.8.8.8', address], [address, '8.8.8.8']]) {
      await expect(guard(async () => addresses).check('example.com', 80)).rejects.toMatchObject(blocked)
    }
  },
)

it.each(['127.0.0.1', '10.0.0.1', '::1', '::ffff:7f00:1'])('refuses the literal %s without a look-up', async host => {
  const resolve = vi.fn()
  await expect(guard(resolve).check(host, 80)).rejects.toMatchObject(blocked)
  expect(resolve).not.toHaveBeenCalled()
})

it.each([22, 25, 587, 6667])('refuses port %i, which usually belongs to another protocol', async port => {
  await expect(guard(async () => ['8.8.8.8']).check('example.com', port)).rejects.toMatchObject(blocked)
})

it('returns private addresses in allowed ranges', async () => {
  const opened = guard(async () => ['10.0.0.1', '8.8.8.8'], '10.0.0.0/8')
  expect(await opened.check('inside.example', 80)).toHaveLength(2)
})

it.each([
  ['2a00:64:64::/96', '2a00:64:64::7f00:1'],
  ['203.0.114.0/24', '203.0.114.7'],
  ['203.0.114.0/24', '::ffff:203.0.114.7'],
])('refuses the blocked range %s, also where it is allowed: %s', async (range, address) => {
  for (const opened of [false, true]) {
    const rules = { allowedPrivateTargets: parseCidrs(opened ? range : ''), blockedTargets: parseCidrs(range) }
    const listeners = createOwnListeners([], async () => [])
    const closed = createAddressGuard({ ...rules, listeners, resolve: async () => ['8.8.8.8', address] })
    await expect(closed.check('example.com', 80)).rejects.toMatchObject(blocked)
    await expect(closed.check(address, 80)).rejects.toMatchObject(blocked)
    expect(await closed.check('8.8.8.8', 80)).toHaveLength(1)
  }
})

it('distinguishes a name without addresses from a blocked one', async () => {
  for (const resolve of [async () => [], () => Promise.reject(new Error('ESERVFAIL'))]) {
    await expect(guard(resolve).check('example.com', 80)).rejects.toThrow(NameResolutionError)
  }
})

it('gives up a name after 5 seconds', async () => {
  vi.useFakeTimers()
  const failed = expect(guard(() => new Promise(() => {})).check('slow.example', 80)).rejects.toThrow(
    NameResolutionError,
  )
  await vi.advanceTimersByTimeAsync(4_999)
  expect(await Promise.race([failed, 'still waiting'])).toBe('still waiting')
  await vi.advanceTimersByTimeAsync(1)
  await failed
})

it('resolves a name once for concurrent checks, and again after 5 seconds', async () => {
  vi.useFakeTimers()
  const resolve = vi.fn(async () => ['8.8.8.8'])
  const { check } = guard(resolve)
  await Promise.all([check('a.example', 80), check('a.example', 443), check('b.example', 80)])
  await vi.advanceTimersByTimeAsync(4_999)
  await check('a.example', 80)
  expect(resolve.mock.calls).toEqual([['a.example'], ['b.example']])
  await vi.advanceTimersByTimeAsync(1)
  await check('a.example', 80)
  expect(resolve).toHaveBeenCalledTimes(3)
})

it('does not remember a failure', async () => {
  const answers = [['10.0.0.1'], [], ['8.8.8.8']]
  const { check } = guard(async () => answers.shift() ?? [])
  await expect(check('example.com', 80)).rejects.toMatchObject(blocked)
  await expect(check('example.com', 80)).rejects.toThrow(NameResolutionError)
  expect(await check('example.com', 80)).toHaveLength(1)
})

it('refuses a port of an own listener in an allowed range, by any name', async () => {
  const resolve = async () => ['10.0.0.5']
  const listeners = createOwnListeners([{ host: 'db.internal', port: 5432 }], resolve)
  await listeners.refresh()
  const { check } = createAddressGuard({ ...openTo('10.0.0.0/8'), listeners, resolve })
  for (const host of ['db.internal', 'DB.internal.', 'other.example', '10.0.0.5', '::ffff:10.0.0.5']) {
    await expect(check(host, 5432)).rejects.toMatchObject(blocked)
    expect(await check(host, 80)).toHaveLength(1)
  }
  expect(await check('10.0.0.6', 5432)).toHaveLength(1)
})

it('refuses the name of its own front end without a look-up', async () => {
  const resolve = vi.fn(async () => ['8.8.8.8'])
  const listeners = createOwnListeners([{ host: 'belfry.example', port: 443, isShared: true }], resolve)
  const { check } = createAddressGuard({ ...openTo(''), listeners, resolve })
  await expect(check('Belfry.example.', 443)).rejects.toMatchObject(blocked)
  expect(resolve).not.toHaveBeenCalled()
  expect(await check('another.example', 443)).toHaveLength(1)
})

function guard(resolve: Resolve, opened = '') {
  const listeners = createOwnListeners([], resolve)
  return createAddressGuard({ ...openTo(opened), listeners, resolve })
}

function openTo(ranges: string) {
  return { allowedPrivateTargets: parseCidrs(ranges), blockedTargets: [] }
}
