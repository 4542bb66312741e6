import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { endDispatcher, leaveDispatchers } from '../src/dispatchers/end-dispatcher.ts'
import { enterDispatchers } from '../src/dispatchers/heartbeat.ts'
import {
  claimProbes,
  listOpenCircuits,
  listPausedHosts,
  pauseHost,
  publishCircuits,
  requestCircuitReset,
} from '../src/dispatchers/host-circuits.ts'
import { circuitsChannel } from '../src/postgres/notices.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()
beforeEach(() => db.pool.query('TRUNCATE resting_hosts; TRUNCATE dispatchers'))

const enter = async () => (await enterDispatchers(db.pool)).id
const aCircuit = (openForMs = 30_000) => ({ workspaceId: randomUUID(), host: 'a.example', openForMs })
const openUntil = (endsAt: number, circuit: ReturnType<typeof aCircuit>) => ({
  ...circuit,
  openForMs: endsAt - Date.now(),
})
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
  const endsAt = Date.now() + 30_000
  await publishCircuits(db.pool, dispatcher, [openUntil(endsAt, circuit)])
  const version = async () => (await db.pool.query('SELECT xmin::text, ctid::text FROM resting_hosts')).rows
  const before = await version()
  await publishCircuits(db.pool, dispatcher, [openUntil(endsAt + 10, circuit)])
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
  expect((await publishCircuits(db.pool, one, [mine, elsewhere])).resets).toEqual([{ workspaceId, host }])
  expect((await publishCircuits(db.pool, one, [elsewhere])).resets).toEqual([])
  expect((await publishCircuits(db.pool, other, [mine])).resets).toEqual([{ workspaceId, host }])
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

it('returns to a dispatcher the breakers that another one has opened, also when that one has died', async () => {
  const [one, other, circuit] = [await enter(), await enter(), aCircuit(20_000)]
  expect((await publishCircuits(db.pool, other, [])).opened).toEqual([])
  await publishCircuits(db.pool, one, [circuit])
  const [opened] = (await publishCircuits(db.pool, other, [])).opened
  expect(opened).toMatchObject({ workspaceId: circuit.workspaceId, host: circuit.host })
  expect(Math.abs((opened?.openForMs ?? 0) - 20_000)).toBeLessThan(2_000)
  expect((await publishCircuits(db.pool, other, [{ ...circuit, openForMs: 10_000 }])).opened).toHaveLength(1)
  expect((await publishCircuits(db.pool, other, [{ ...circuit, openForMs: 20_000 }])).opened).toEqual([])
  await endDispatcher(db.pool, one)
  await leaveDispatchers(db.pool, other, () => false)
  expect(await listOpenCircuits(db.pool)).toEqual([])
  const successor = await enter()
  expect((await publishCircuits(db.pool, successor, [])).opened).toHaveLength(1)
  await publishCircuits(db.pool, successor, [circuit])
  expect(await listOpenCircuits(db.pool)).toMatchObject([{ dispatchers: 1 }])
})

it('closes everywhere a breaker that has closed in one dispatcher, and keeps it closed', async () => {
  const [one, other, dead, circuit] = [await enter(), await enter(), await enter(), aCircuit()]
  for (const id of [one, other, dead]) await publishCircuits(db.pool, id, [circuit])
  await endDispatcher(db.pool, dead)
  expect(await publishCircuits(db.pool, one, [])).toMatchObject({ resets: [], opened: [] })
  const { workspaceId, host } = circuit
  expect(await publishCircuits(db.pool, other, [circuit])).toMatchObject({
    resets: [{ workspaceId, host }],
    opened: [],
  })
  for (const id of [one, other])
    expect(await publishCircuits(db.pool, id, [])).toMatchObject({ resets: [], opened: [] })
})

it('forgets breakers twenty minutes after they became half-open, and removes those of the dead after an hour', async () => {
  const [dead, alive] = [await enter(), await enter()]
  const [recent, old, ancient] = [aCircuit(-19 * 60_000), aCircuit(-21 * 60_000), aCircuit(-61 * 60_000)]
  await publishCircuits(db.pool, dead, [recent, old, ancient])
  await db.pool.query('DELETE FROM dispatchers WHERE id = $1', [dead])
  const { opened } = await publishCircuits(db.pool, alive, [])
  expect(opened.map(({ workspaceId }) => workspaceId)).toEqual([recent.workspaceId])
  expect((await db.pool.query('SELECT FROM resting_hosts')).rowCount).toBe(2)
})

it('notifies dispatchers of what opens and closes, and not of what they share', async () => {
  const [one, other, circuit] = [await enter(), await enter(), aCircuit()]
  const heard: string[] = []
  const client = await db.pool.connect()
  client.on('notification', ({ channel }) => heard.push(channel))
  try {
    await client.query(`LISTEN ${circuitsChannel}`)
    const after = async (step: () => Promise<unknown>) => {
      heard.length = 0
      await step()
      await client.query('SELECT 1')
      await client.query('SELECT 1')
      return heard.length
    }
    let endsAt = Date.now() + 30_000
    const publish = (id: string) => publishCircuits(db.pool, id, [openUntil(endsAt, circuit)])
    expect(await after(() => publish(one))).toBe(1)
    expect(await after(() => publish(one))).toBe(0)
    expect(await after(() => publish(other))).toBe(0)
    expect(await after(() => requestCircuitReset(db.pool, circuit))).toBe(1)
    expect(await after(() => publishCircuits(db.pool, one, []))).toBe(0)
    endsAt += 30_000
    expect(await after(() => publish(one))).toBe(1)
    await publish(other)
    await publish(other)
    expect(await after(() => publishCircuits(db.pool, one, []))).toBe(1)
  } finally {
    client.release(true)
  }
})

it('lets one dispatcher at a time probe a half-open host', async () => {
  const [one, other, circuit] = [await enter(), await enter(), aCircuit(-1)]
  const { workspaceId, host } = circuit
  const probe = (id: string) => claimProbes(db.pool, id, [circuit], 30_000)
  expect(await probe(one)).toEqual([])
  await publishCircuits(db.pool, one, [{ ...circuit, openForMs: 30_000 }])
  await publishCircuits(db.pool, other, [circuit])
  expect(await probe(other)).toEqual([])
  await publishCircuits(db.pool, one, [circuit])
  const asked = await Promise.all([probe(one), probe(other), probe(one), probe(other)])
  const [ofOne, ofOther] = [asked[0]?.length ?? 0, asked[1]?.length ?? 0]
  expect(ofOne + ofOther).toBe(1)
  expect(asked.flat()).toEqual([
    { workspaceId, host },
    { workspaceId, host },
  ])
  const [prober, refused] = ofOne === 1 ? [one, other] : [other, one]
  await endDispatcher(db.pool, prober)
  expect(await probe(refused)).toEqual([{ workspaceId, host }])
})

it('lists the first 1,000 of 1,001 hosts', async () => {
  const dispatcher = await enter()
  const circuits = Array.from({ length: 1_001 }, (_, i) => ({ ...aCircuit(), host: `h${i}.example` }))
  await publishCircuits(db.pool, dispatcher, circuits)
  expect((await db.pool.query('SELECT FROM resting_hosts')).rowCount).toBe(1_001)
  expect(await listOpenCircuits(db.pool)).toHaveLength(1_000)
})

it('pauses a host for every dispatcher until it is resumed, and breakers change nothing about it', async () => {
  const [one, other, circuit] = [await enter(), await enter(), aCircuit(-1)]
  const { workspaceId, host } = circuit
  for (let i = 0; i < 2; i++) expect(await pauseHost(db.pool, circuit, true)).toBe(true)
  expect([...(await listPausedHosts(db.pool, workspaceId)).keys()]).toEqual([host])
  expect(await listPausedHosts(db.pool, randomUUID())).toEqual(new Map())
  await publishCircuits(db.pool, one, [circuit])
  expect(await claimProbes(db.pool, one, [circuit], 30_000)).toEqual([])
  expect(await listOpenCircuits(db.pool)).toMatchObject([{ dispatchers: 1 }])
  await publishCircuits(db.pool, one, [])
  expect(await requestCircuitReset(db.pool, circuit)).toBe(0)
  for (const id of [one, other])
    expect(await publishCircuits(db.pool, id, [])).toMatchObject({
      resets: [],
      opened: [],
      paused: [{ workspaceId, host }],
    })
  expect(await listOpenCircuits(db.pool)).toEqual([])
  for (let i = 0; i < 2; i++) expect(await pauseHost(db.pool, circuit, false)).toBe(true)
  expect((await publishCircuits(db.pool, one, [])).paused).toEqual([])
})
