import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  listOpenCircuits,
  recordClosedCircuit,
  recordOpenCircuit,
  requestCircuitReset,
  takeCircuitResets,
} from '../src/index.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()
const aCircuit = (dispatcher = randomUUID()) => ({ dispatcher, workspaceId: randomUUID(), host: 'a.example' })

it('lists a host from when its circuit opens until it closes', async () => {
  const circuit = aCircuit()
  await recordOpenCircuit(db.pool, circuit, 30_000)
  const [first] = await listOpenCircuits(db.pool)
  expect(first).toMatchObject({ workspaceId: circuit.workspaceId, host: 'a.example', state: 'resting', dispatchers: 1 })
  await recordOpenCircuit(db.pool, circuit, -1)
  expect(await listOpenCircuits(db.pool)).toMatchObject([{ state: 'probing', since: first?.since }])
  await recordClosedCircuit(db.pool, circuit)
  expect(await listOpenCircuits(db.pool)).toEqual([])
})

it('returns to each dispatcher the circuits that it must close, once, and no others', async () => {
  const mine = aCircuit()
  const others = { ...mine, dispatcher: randomUUID() }
  const elsewhere = aCircuit(mine.dispatcher)
  for (const circuit of [mine, others, elsewhere]) await recordOpenCircuit(db.pool, circuit, 30_000)
  expect(await requestCircuitReset(db.pool, mine)).toBe(2)
  expect(await requestCircuitReset(db.pool, mine)).toBe(0)
  const { workspaceId, host } = mine
  expect(await takeCircuitResets(db.pool, mine.dispatcher)).toMatchObject([{ workspaceId, host }])
  expect(await takeCircuitResets(db.pool, mine.dispatcher)).toEqual([])
  expect(await takeCircuitResets(db.pool, others.dispatcher)).toMatchObject([{ workspaceId, host }])
  expect(await listOpenCircuits(db.pool)).toMatchObject([{ workspaceId: elsewhere.workspaceId }])
})

it('forgets the circuits of a lost dispatcher', async () => {
  const circuit = aCircuit()
  await recordOpenCircuit(db.pool, circuit, -2 * 3_600_000)
  const listed = await listOpenCircuits(db.pool)
  expect(listed.map(({ workspaceId }) => workspaceId)).not.toContain(circuit.workspaceId)
  await takeCircuitResets(db.pool, randomUUID())
  const { rows } = await db.pool.query('SELECT FROM resting_hosts WHERE dispatcher = $1', [circuit.dispatcher])
  expect(rows).toEqual([])
})
