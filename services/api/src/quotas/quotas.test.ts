import type { Db } from '@belfry/db/postgres/in-transaction'
import { defaultTiers } from '@belfry/domain/tiers'
import { expect, it } from 'vitest'
import { createUsageCache, refuseOverQuota } from './quotas.ts'

const usage = { tier: 'free', executions: 1, storageBytes: 2, workspaces: 3, now: new Date(0) } as const

function cacheOf(answer: () => Promise<typeof usage>) {
  let time = 1
  const reads: string[] = []
  const read = (id: string) => {
    reads.push(id)
    return answer()
  }
  return { cache: createUsageCache(read, { now: () => time }), reads, pass: (ms: number) => (time += ms) }
}

it('reads once for all callers within two seconds, and again after that or after a deletion', async () => {
  const { cache, reads, pass } = cacheOf(async () => usage)
  await Promise.all([cache.get('a'), cache.get('a'), cache.get('b')])
  pass(2_000)
  expect(await cache.get('a')).toEqual(usage)
  expect(reads).toEqual(['a', 'b'])
  pass(1)
  await cache.get('a')
  cache.delete('a')
  await cache.get('a')
  expect(reads).toEqual(['a', 'b', 'a', 'a'])
})

it('reads with the transaction of a caller that has one, without waiting for the read of another caller', async () => {
  const connection = {} as Db // a name for it is enough
  const readWith: Array<Db | undefined> = []
  const waiting = new Promise<never>(() => {})
  const cache = createUsageCache((_, tx) => {
    readWith.push(tx)
    return tx ? Promise.resolve(usage) : waiting
  })
  void cache.get('a')
  expect(await cache.get('a', connection)).toEqual(usage)
  expect(await cache.get('a', connection)).toEqual(usage)
  expect(await cache.get('a')).toEqual(usage)
  expect(readWith).toEqual([undefined, connection])
})

it('does not cache a failed read', async () => {
  let isAway = true
  const { cache } = cacheOf(() => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(usage)))
  await expect(cache.get('a')).rejects.toThrow('away')
  isAway = false
  expect(await cache.get('a')).toEqual(usage)
})

it.each([
  [9, 100, 'at_once', null],
  [10, 100, 'at_once', 'executions'],
  [10, 100, 'later', null],
  [11, 101, 'at_once', 'stores'],
  [0, 101, 'later', 'stores'],
] as const)(
  'with %i of 10 executions and %i of 100 bytes, a task that starts %s is refused for %j',
  (executions, storageBytes, starts, reason) => {
    const limits = { ...defaultTiers.free, executions: 10, storageBytes: 100 }
    const refuse = () => refuseOverQuota({ limits, used: { executions, storageBytes } }, starts)
    if (reason === null) refuse()
    else expect(refuse).toThrow(reason)
  },
)
