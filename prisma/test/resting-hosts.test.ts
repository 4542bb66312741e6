import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { endHostRest, listRestingHosts, noteHostRest, resetHost, takeHostResets } from '../src/index.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()
const aRest = (dispatcher = randomUUID()) => ({ dispatcher, workspaceId: randomUUID(), host: 'a.example' })

it('lists a host from its rest on until it does well again', async () => {
  const rest = aRest()
  await noteHostRest(db.pool, rest, 30_000)
  const [first] = await listRestingHosts(db.pool)
  expect(first).toMatchObject({ workspaceId: rest.workspaceId, host: 'a.example', state: 'resting', dispatchers: 1 })
  await noteHostRest(db.pool, rest, -1)
  expect(await listRestingHosts(db.pool)).toMatchObject([{ state: 'probing', since: first?.since }])
  await endHostRest(db.pool, rest)
  expect(await listRestingHosts(db.pool)).toEqual([])
})

it('hands each dispatcher the rests that it has to end, once, and those of nobody else', async () => {
  const mine = aRest()
  const others = { ...mine, dispatcher: randomUUID() }
  const elsewhere = aRest(mine.dispatcher)
  for (const rest of [mine, others, elsewhere]) await noteHostRest(db.pool, rest, 30_000)
  expect(await resetHost(db.pool, mine)).toBe(2)
  expect(await resetHost(db.pool, mine)).toBe(0)
  const { workspaceId, host } = mine
  expect(await takeHostResets(db.pool, mine.dispatcher)).toMatchObject([{ workspaceId, host }])
  expect(await takeHostResets(db.pool, mine.dispatcher)).toEqual([])
  expect(await takeHostResets(db.pool, others.dispatcher)).toMatchObject([{ workspaceId, host }])
  expect(await listRestingHosts(db.pool)).toMatchObject([{ workspaceId: elsewhere.workspaceId }])
})

it('forgets what a lost dispatcher has noted', async () => {
  const rest = aRest()
  await noteHostRest(db.pool, rest, -2 * 3_600_000)
  const listed = await listRestingHosts(db.pool)
  expect(listed.map(({ workspaceId }) => workspaceId)).not.toContain(rest.workspaceId)
  await takeHostResets(db.pool, randomUUID())
  const { rows } = await db.pool.query('SELECT FROM resting_hosts WHERE dispatcher = $1', [rest.dispatcher])
  expect(rows).toEqual([])
})
