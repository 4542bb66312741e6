import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import {
  endDispatcher,
  enterDispatchers,
  leaveDispatchers,
  listOpenCircuits,
  publishCircuits,
  requestCircuitReset,
} from '../src/index.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()
beforeEach(() => db.pool.query('TRUNCATE resting_hosts; TRUNCATE dispatchers'))

const enter = async () => (await enterDispatchers(db.pool)).id
const aCircuit = (openForMs = 30_000) => ({ workspaceId: randomUUID(), host: 'a.example', openForMs })
const beat = (id: string, ago: string) =>
  db.pool.query(`UPDATE dispatchers SET seen_at = clock_timestamp() - $2::interval WHERE id = $1`, [id, ago])

it('lists a host from when its breaker opens until it closes, with the time of the next probe', async () => {
  const [dispatcher, circuit] = [await enter(), aCircuit()]
  const { workspaceId } = circuit
  await publishCircuits(db.pool, dispatcher, [circuit])
  const [first] = await listOpenCircuits(db.pool, workspaceId)
  expect(first).toMatchObject({ workspaceId, host: 'a.example', state: 'open', dispatchers: 1 })
  expect(Math.abs((first?.nextProbeAt.getTime() ?? 0) - Date.now() - 30_000)).toBeLessThan(2_000)
  await publishCircuits(db.pool, dispatcher, [{ ...circuit, openForMs: -1 }])
  expect(await listOpenCircuits(db.pool)).toMatchObject([{ state: 'half_open', since: first?.since }])
  expect(await listOpenCircuits(db.pool, randomUUID())).toEqual([])
  await publishCircuits(db.pool, dispatcher, [])
  expect(await listOpenCircuits(db.pool)).toEqual([])
})

it('writes nothing while the breakers do not change', async () => {
  const [dispatcher, circuit] = [await enter(), aCircuit()]
  await publishCircuits(db.pool, dispatcher, [circuit])
  const version = async () => (await db.pool.query('SELECT xmin::text, ctid::text FROM resting_hosts')).rows
  const before = await version()
  await publishCircuits(db.pool, dispatcher, [{ ...circuit, openForMs: 29_990 }])
  expect(await version()).toEqual(before)
})

it('counts a host once for all dispatchers, with the first of their probes', async () => {
  const [one, other, circuit] = [await enter(), await enter(), aCircuit(30_000)]
  await publishCircuits(db.pool, one, [circuit])
  await publishCircuits(db.pool, other, [{ ...circuit, openForMs: 10_000 }])
  const [listed] = await listOpenCircuits(db.pool)
  expect(listed).toMatchObject({ state: 'open', dispatchers: 2 })
  expect((listed?.nextProbeAt.getTime() ?? 0) - Date.now()).toBeLessThan(11_000)
})

it('returns to each dispatcher the breakers that it must close, once, and no others', async () => {
  const [one, other] = [await enter(), await enter()]
  const [mine, elsewhere] = [aCircuit(), aCircuit()]
  await publishCircuits(db.pool, one, [mine, elsewhere])
  await publishCircuits(db.pool, other, [mine])
  expect(await requestCircuitReset(db.pool, mine)).toBe(2)
  expect(await requestCircuitReset(db.pool, mine)).toBe(0)
  expect(await listOpenCircuits(db.pool)).toMatchObject([{ workspaceId: elsewhere.workspaceId }])
  const { workspaceId, host } = mine
  expect(await publishCircuits(db.pool, one, [mine, elsewhere])).toEqual([{ workspaceId, host }])
  expect(await publishCircuits(db.pool, one, [elsewhere])).toEqual([])
  expect(await publishCircuits(db.pool, other, [mine])).toEqual([{ workspaceId, host }])
  expect(await listOpenCircuits(db.pool)).toMatchObject([{ workspaceId: elsewhere.workspaceId }])
})

it('does not list the breakers of a dispatcher without a heartbeat', async () => {
  const dispatcher = await enter()
  await publishCircuits(db.pool, dispatcher, [aCircuit()])
  await beat(dispatcher, '4 seconds')
  expect(await listOpenCircuits(db.pool)).toHaveLength(1)
  await beat(dispatcher, '6 seconds')
  expect(await listOpenCircuits(db.pool)).toEqual([])
})

it('forgets the breakers of a dispatcher that ends or leaves, and those that a crash left behind', async () => {
  const rows = async () => (await db.pool.query('SELECT FROM resting_hosts')).rowCount
  const [dead, leaving, vanished, alive] = [await enter(), await enter(), await enter(), await enter()]
  for (const id of [dead, leaving]) await publishCircuits(db.pool, id, [aCircuit()])
  await publishCircuits(db.pool, vanished, [aCircuit(-2 * 3_600_000)])
  await endDispatcher(db.pool, dead)
  await leaveDispatchers(db.pool, leaving, () => false)
  expect(await rows()).toBe(1)
  await db.pool.query('DELETE FROM dispatchers WHERE id = $1', [vanished])
  await publishCircuits(db.pool, alive, [])
  expect(await rows()).toBe(0)
})

it('lists the first 1,000 of 1,001 hosts', async () => {
  const dispatcher = await enter()
  const circuits = Array.from({ length: 1_001 }, (_, i) => ({ ...aCircuit(), host: `h${i}.example` }))
  await publishCircuits(db.pool, dispatcher, circuits)
  expect((await db.pool.query('SELECT FROM resting_hosts')).rowCount).toBe(1_001)
  expect(await listOpenCircuits(db.pool)).toHaveLength(1_000)
})
