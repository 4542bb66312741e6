import { parseCidrs } from '@belfry/domain'
import { afterEach, expect, it, vi } from 'vitest'
import { BlockedAddressError, NameResolutionError } from '../../src/egress/call-errors.ts'
import { createAddressGuard } from '../../src/egress/guard-address.ts'
import { createOwnListeners } from '../../src/egress/own-listeners.ts'
import type { Resolve } from '../../src/egress/resolve-name.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('hands out every address of a name', async () => {
  expect(await guard(async () => ['8.8.8.8', '2606:4700::1']).judge('example.com', 80)).toEqual([
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1', family: 6 },
  ])
})

it.each(['10.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254', 'fe80::1%eth0', 'nonsense'])(
  'refuses a name if just one of its addresses is %s',
  async address => {
    for (const addresses of [[address], ['8.8.8.8', address], [address, '8.8.8.8']]) {
      await expect(guard(async () => addresses).judge('example.com', 80)).rejects.toThrow(BlockedAddressError)
    }
  },
)

it.each(['127.0.0.1', '10.0.0.1', '::1', '::ffff:7f00:1'])('refuses the literal %s without a look-up', async host => {
  const resolve = vi.fn()
  await expect(guard(resolve).judge(host, 80)).rejects.toThrow(BlockedAddressError)
  expect(resolve).not.toHaveBeenCalled()
})

it('hands out private addresses in opened ranges', async () => {
  const opened = guard(async () => ['10.0.0.1', '8.8.8.8'], '10.0.0.0/8')
  expect(await opened.judge('inside.example', 80)).toHaveLength(2)
})

it('tells a name without addresses from a blocked one', async () => {
  for (const resolve of [async () => [], () => Promise.reject(new Error('ESERVFAIL'))]) {
    await expect(guard(resolve).judge('example.com', 80)).rejects.toThrow(NameResolutionError)
  }
})

it('gives up a name after 5 seconds', async () => {
  vi.useFakeTimers()
  const failed = expect(guard(() => new Promise(() => {})).judge('slow.example', 80)).rejects.toThrow(
    NameResolutionError,
  )
  await vi.advanceTimersByTimeAsync(4_999)
  expect(await Promise.race([failed, 'still waiting'])).toBe('still waiting')
  await vi.advanceTimersByTimeAsync(1)
  await failed
})

it('asks once for concurrent look-ups and again after 5 seconds', async () => {
  vi.useFakeTimers()
  const resolve = vi.fn(async () => ['8.8.8.8'])
  const { judge } = guard(resolve)
  await Promise.all([judge('a.example', 80), judge('a.example', 443), judge('b.example', 80)])
  await vi.advanceTimersByTimeAsync(4_999)
  await judge('a.example', 80)
  expect(resolve.mock.calls).toEqual([['a.example'], ['b.example']])
  await vi.advanceTimersByTimeAsync(1)
  await judge('a.example', 80)
  expect(resolve).toHaveBeenCalledTimes(3)
})

it('does not remember a failure', async () => {
  const answers = [['10.0.0.1'], [], ['8.8.8.8']]
  const { judge } = guard(async () => answers.shift() ?? [])
  await expect(judge('example.com', 80)).rejects.toThrow(BlockedAddressError)
  await expect(judge('example.com', 80)).rejects.toThrow(NameResolutionError)
  expect(await judge('example.com', 80)).toHaveLength(1)
})

it('refuses an own listener by its port although its range is opened, under whatever name', async () => {
  const resolve = async () => ['10.0.0.5']
  const listeners = createOwnListeners([{ host: 'db.internal', port: 5432 }], resolve)
  await listeners.refresh()
  const { judge } = createAddressGuard({ allowed: parseCidrs('10.0.0.0/8'), listeners, resolve })
  for (const host of ['db.internal', 'DB.internal.', 'other.example', '10.0.0.5', '::ffff:10.0.0.5']) {
    await expect(judge(host, 5432)).rejects.toThrow(BlockedAddressError)
    expect(await judge(host, 80)).toHaveLength(1)
  }
  expect(await judge('10.0.0.6', 5432)).toHaveLength(1)
})

it('refuses the name of the own front before it is looked up', async () => {
  const resolve = vi.fn(async () => ['8.8.8.8'])
  const listeners = createOwnListeners([{ host: 'belfry.example', port: 443, isShared: true }], resolve)
  const { judge } = createAddressGuard({ allowed: [], listeners, resolve })
  await expect(judge('Belfry.example.', 443)).rejects.toThrow(BlockedAddressError)
  expect(resolve).not.toHaveBeenCalled()
  expect(await judge('another.example', 443)).toHaveLength(1)
})

function guard(resolve: Resolve, opened = '') {
  return createAddressGuard({ allowed: parseCidrs(opened), listeners: createOwnListeners([], resolve), resolve })
}
