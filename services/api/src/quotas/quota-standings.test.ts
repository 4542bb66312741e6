import type { Db } from '@belfry/db'
import { expect, it } from 'vitest'
import { createQuotaStandings } from './quota-standings.ts'

const usage = { tier: 'free', executions: 1, storageBytes: 2, workspaces: 3, now: new Date(0) } as const

function standingsOf(answer: () => Promise<typeof usage>) {
  let time = 0
  const asked: string[] = []
  const read = (id: string) => {
    asked.push(id)
    return answer()
  }
  return { standings: createQuotaStandings(read, () => time), asked, pass: (ms: number) => (time += ms) }
}

it('reads once for all who ask within two seconds, and again after that or when it is told to forget', async () => {
  const { standings, asked, pass } = standingsOf(async () => usage)
  await Promise.all([standings.of('a'), standings.of('a'), standings.of('b')])
  pass(1_999)
  expect(await standings.of('a')).toEqual(usage)
  expect(asked).toEqual(['a', 'b'])
  pass(1)
  await standings.of('a')
  standings.forget('a')
  await standings.of('a')
  expect(asked).toEqual(['a', 'b', 'a', 'a'])
})

it('reads with the connection of whoever holds one, unless it is known: they do not wait for others', async () => {
  const connection = {} as Db // a name for it is enough
  const readWith: Array<Db | undefined> = []
  const waiting = new Promise<never>(() => {})
  const standings = createQuotaStandings(
    (_, db) => {
      readWith.push(db)
      return db ? Promise.resolve(usage) : waiting
    },
    () => 0,
  )
  void standings.of('a')
  expect(await standings.through(connection).of('a')).toEqual(usage)
  expect(await standings.through(connection).of('a')).toEqual(usage)
  expect(await standings.of('a')).toEqual(usage)
  expect(readWith).toEqual([undefined, connection])
})

it('does not remember that it could not read', async () => {
  let isAway = true
  const { standings } = standingsOf(() => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(usage)))
  await expect(standings.of('a')).rejects.toThrow('away')
  isAway = false
  expect(await standings.of('a')).toEqual(usage)
})
