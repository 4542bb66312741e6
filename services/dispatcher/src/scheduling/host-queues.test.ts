import { expect, it } from 'vitest'
import { setup, type Task } from '../../test/scheduling/setup-queues.ts'
import type { Slot } from './slot.ts'

const count = (taken: Slot<Task>[], key: 'workspace' | 'host', value: string) =>
  taken.filter(({ task }) => task[key] === value).length

it('gives slots round-robin to workspaces, however many tasks each has, and in any order of arrival', () => {
  const { add, startAll } = setup()
  add('a', 'x', 50)
  add('b', 'y', 2)
  add('c', 'z', 1)
  const taken = startAll()
  expect(taken.slice(0, 6).map(({ task }) => task.workspace)).toEqual(['a', 'b', 'c', 'a', 'b', 'a'])
})

it('keeps the order within a host, and gives slots round-robin to the hosts of a workspace', () => {
  const { add, startAll } = setup()
  add('a', 'x', 3)
  add('a', 'y', 2)
  expect(startAll().map(({ task }) => task.n)).toEqual([0, 3, 1, 4, 2])
})

it('gives no more slots than there are, and keeps one for a workspace that comes later', () => {
  const { queues, add, startAll } = setup({ slots: 10 })
  add('a', 'x', 50)
  expect(startAll()).toHaveLength(9)
  add('b', 'y', 50)
  const [slot] = startAll()
  expect(slot?.task.workspace).toBe('b')
  expect(queues.slotsTaken).toBe(10)
  expect(startAll()).toEqual([])
})

it('never gives more permits of a host than there are, and leaves some of them to other workspaces', () => {
  const { add, startAll } = setup({ slots: 200, permitsPerHost: 32 })
  add('a', 'x', 100)
  expect(startAll()).toHaveLength(29)
  add('b', 'x', 100)
  const more = startAll()
  expect(more.length).toBeGreaterThan(0)
  expect(more.length).toBeLessThanOrEqual(3)
  expect(count(more, 'workspace', 'b')).toBe(more.length)
})

it('passes over the tasks of a host without a free permit, and returns to them when there is one', () => {
  const { queues, add, startAll } = setup({ slots: 20, permitsPerHost: 1 })
  add('a', 'x', 3)
  add('a', 'y', 1)
  const taken = startAll()
  expect(taken.map(({ task }) => task.host)).toEqual(['x', 'y'])
  add('a', 'x')
  expect(queues.blockedOf('a')).toBe(3)
  taken[0]?.release('healthy')
  taken[0]?.release('healthy')
  expect(startAll().map(({ task }) => task.n)).toEqual([1])
  expect(queues.blockedOf('a')).toBe(2)
})

it('opens the circuit breaker for one workspace only, and probes with a single attempt', () => {
  const { queues, clock, add, startAll } = setup({ slots: 100 })
  add('a', 'x', 30)
  const ends = startAll()
    .slice(0, 20)
    .map(slot => slot.release('failing'))
  expect(ends.at(-1)).toEqual({ to: 'open', until: clock.now + 30_000 })
  add('a', 'x', 5)
  add('b', 'x', 1)
  add('a', 'y', 1)
  expect(startAll().map(({ task }) => `${task.workspace}${task.host}`)).toEqual(['ay', 'bx'])
  clock.now += 30_000
  queues.unblock('x')
  expect(startAll()).toEqual([])
  queues.allowProbes({ workspace: 'a', host: 'x' }, clock.now + 30_000)
  queues.allowProbes({ workspace: 'unknown', host: 'x' }, clock.now + 30_000)
  const probes = startAll()
  expect(probes).toHaveLength(1)
  expect(probes[0]?.release('healthy')).toEqual({ to: 'closed' })
  expect(startAll()).toHaveLength(4)
})

it('returns the tasks that are still queued, once', () => {
  const { queues, add, startAll } = setup({ slots: 2 })
  add('a', 'x', 5)
  const started = startAll()
  expect(queues.take(() => true)).toHaveLength(5 - started.length)
  expect(queues.take(() => true)).toEqual([])
  started[0]?.release('healthy')
  expect(startAll()).toEqual([])
})

it('prefetches the next tasks of a queue, each once, as many as complete within some milliseconds', () => {
  const { clock, add, startAll } = setup({ slots: 20 })
  add('a', 'x', 200)
  const numbers = (tasks: Task[] = []) => tasks.map(({ n }) => n)
  let taken = startAll()
  expect(taken[0]?.prefetchNext()).toEqual([])
  const [first] = taken
  for (const slot of taken) slot.release('healthy')
  clock.now += 99
  expect(first?.prefetchNext()).toEqual([])
  clock.now += 1
  const from = (start: number, count: number) => Array.from({ length: count }, (_, i) => start + i)
  expect(numbers(first?.prefetchNext())).toEqual(from(18, 27)) // 18 in a tenth of a second
  expect(first?.prefetchNext()).toEqual([])
  taken = startAll()
  expect(numbers(taken.map(({ task }) => task))).toContain(26)
  expect(numbers(first?.prefetchNext())).toEqual(from(45, 18))
  clock.now += 200
  for (const slot of taken) slot.release('healthy')
  startAll()
  clock.now += 200
  expect(first?.prefetchNext()).toEqual([])
})

it('tells which prefetched tasks should have a slot within some milliseconds', () => {
  const { clock, add, startAll } = setup({ slots: 20 })
  add('a', 'x', 200)
  const taken = startAll() // 18
  for (const slot of taken) slot.release('healthy')
  clock.now += 100
  const [first] = taken
  expect(first?.startingWithin(25)).toEqual([])
  const prefetched = first?.prefetchNext()
  expect(prefetched).toHaveLength(27)
  expect(first?.startingWithin(25)).toEqual(prefetched?.slice(0, 5))
  expect(first?.startingWithin(1_000)).toEqual(prefetched)
  clock.now += 200
  expect(first?.startingWithin(25)).toEqual([])
})

it('prefetches a bounded number in all, and leaves a part of that to other queues', () => {
  const { clock, add, startAll } = setup({ slots: 3_000, permitsPerHost: 3_000 })
  add('a', 'x', 2_000)
  const ofA = startAll()
  for (const slot of ofA) slot.release('healthy')
  add('a', 'x', 2_000)
  add('b', 'y', 1_000)
  const [ofB] = startAll().filter(({ task }) => task.workspace === 'b')
  ofB?.release('healthy')
  add('a', 'x', 2_000)
  add('b', 'y', 1_000)
  clock.now += 100
  expect(ofA[0]?.prefetchNext()).toHaveLength(461)
  expect(ofB?.prefetchNext()).toHaveLength(2)
})

it('takes out prefetched tasks that got no slot or whose circuit breaker has opened, and no others', () => {
  const { queues, clock, add, startAll } = setup({ slots: 20 })
  add('a', 'x', 200)
  const [first, ...others] = startAll()
  for (const slot of others) slot.release('healthy')
  startAll()
  clock.now += 100
  const given = first?.prefetchNext()
  expect(given).not.toEqual([])
  clock.now += 999
  expect(queues.takeDelayed(1_000)).toEqual([])
  expect(queues.prefetched).toBe(given?.length)
  clock.now += 1
  expect(queues.takeDelayed(1_000)).toEqual(given)
  expect(queues.takeDelayed(0)).toEqual([])
  expect(queues.prefetched).toBe(0)
  const last = setup({ slots: 40 })
  last.add('a', 'x', 200)
  const taken = last.startAll()
  for (const slot of taken.slice(0, 19)) slot.release('failing')
  last.clock.now += 100
  const prefetched = taken[0]?.prefetchNext()
  expect(taken[19]?.release('failing')?.to).toBe('open')
  expect(taken[0]?.prefetchNext()).toEqual([])
  expect(last.queues.takeDelayed(1_000)).toEqual(prefetched)
  expect(last.queues.takeDelayed(0)).toEqual([])
})

it('evicts queues without a call for a minute, but not those with an open circuit breaker or tasks', () => {
  const { queues, clock, add, startAll } = setup({ slots: 1000, permitsPerHost: 1000 })
  add('a', 'x', 20)
  for (const slot of startAll()) slot.release('failing')
  queues.evictIdle()
  add('a', 'x')
  clock.now += 29_000
  queues.evictIdle()
  expect(startAll()).toEqual([])
  clock.now += 1_000
  queues.allowProbes({ workspace: 'a', host: 'x' }, clock.now + 30_000)
  expect(startAll()).toHaveLength(1)
})

it('starts no more calls to a host in a period than its rate, and says when to continue', () => {
  const { queues, clock, add, startAll } = setup({ slots: 100, startsPerHost: { count: 3, periodMs: 1_000 } })
  add('a', 'x', 5)
  add('b', 'x', 5)
  add('a', 'y', 1)
  const hosts = (slots: Slot<Task>[]) => slots.map(({ task }) => task.host).sort()
  const first = startAll()
  expect(hosts(first)).toEqual(['x', 'x', 'x', 'y'])
  expect(queues.takeWakeUps()).toEqual([{ host: 'x', at: clock.now + 1_000 }])
  expect(queues.takeWakeUps()).toEqual([])
  clock.now += 999
  for (const slot of first) slot.release('healthy')
  expect(first[0]?.prefetchNext()).toEqual([])
  expect(startAll()).toEqual([])
  expect(queues.takeWakeUps()).toEqual([{ host: 'x', at: clock.now + 1 }])
  clock.now += 1
  queues.unblock('x')
  expect(startAll()).toHaveLength(3)
  queues.setLimits(100, { count: 5, periodMs: 1_000 })
  expect(startAll()).toHaveLength(2)
  queues.setLimits(100, { count: 1, periodMs: 4_000 })
  clock.now += 3_999
  queues.unblock('x')
  expect(startAll()).toEqual([])
  clock.now += 1
  queues.unblock('x')
  expect(startAll()).toHaveLength(1)
})

it('gives the start of a call that was not made back to the rate of its host', () => {
  const { queues, clock, add, startAll } = setup({ slots: 100, startsPerHost: { count: 2, periodMs: 1_000 } })
  add('a', 'x', 1)
  const [refused] = startAll()
  clock.now += 100
  add('a', 'x', 4)
  const [called] = startAll()
  called?.beginCall(0)
  called?.forgetStart()
  called?.release(null)
  expect(startAll()).toEqual([])
  refused?.forgetStart()
  refused?.forgetStart()
  refused?.release(null)
  expect(startAll()).toHaveLength(1)
  clock.now += 999
  queues.unblock('x')
  expect(startAll()).toEqual([])
  clock.now += 1
  queues.unblock('x')
  expect(startAll()).toHaveLength(2)
})

it('opens the circuit breaker of a queue that another dispatcher has opened, also of one without tasks', () => {
  const { queues, clock, add, startAll } = setup()
  const key = { workspace: 'a', host: 'x' }
  expect(queues.openCircuit(key, clock.now + 1_000)).toEqual({ to: 'open', until: clock.now + 1_000 })
  expect(queues.openCircuit(key, clock.now + 1_000)).toBeNull()
  add('a', 'x')
  add('b', 'x')
  expect(startAll().map(({ task }) => task.workspace)).toEqual(['b'])
  const open = { ...key, openUntil: clock.now + 1_000, isWaiting: true, isProbing: false }
  expect(queues.openCircuits()).toMatchObject([open])
})

it('lists open circuit breakers, and starts their tasks at once after a reset', () => {
  const { queues, add, startAll } = setup({ slots: 1000, permitsPerHost: 1000 })
  add('a', 'x', 20)
  add('b', 'x')
  for (const slot of startAll()) slot.release(slot.task.workspace === 'a' ? 'failing' : 'healthy')
  add('a', 'x', 2)
  expect(startAll()).toEqual([])
  expect(queues.openCircuits()).toMatchObject([{ workspace: 'a', host: 'x' }])
  queues.resetCircuit({ workspace: 'a', host: 'x' })
  queues.resetCircuit({ workspace: 'unknown', host: 'unknown' })
  expect(queues.openCircuits()).toEqual([])
  expect(startAll()).toHaveLength(2)
})

it('starts thousands of tasks of thousands of queues in little time', () => {
  const { add, startAll } = setup({ slots: 100, permitsPerHost: 2 })
  for (let i = 0; i < 20_000; i++) add(`w${i % 50}`, `h${i % 5_000}`)
  let started = 0
  for (let taken = startAll(); taken.length > 0; taken = startAll()) {
    started += taken.length
    for (const slot of taken) slot.release('healthy')
  }
  expect(started).toBe(20_000)
})

/** Names a workspace by its account, its organization and itself. */
const tenantOf = (workspace: string) => {
  const [account = '', organization = ''] = workspace.split('/')
  return { account, organization: `${account}/${organization}`, slotsPercent: 100, isNew: false }
}

it('counts all workspaces of an account together, so the first task of another account starts at once', () => {
  const { add, startAll } = setup({ slots: 200, tenantOf })
  for (let i = 0; i < 26; i++) for (let j = 0; j < 12; j++) add(`abuser/o${i % 13}/w${i}`, `h${j}`, 5)
  const taken = startAll()
  expect(taken.length).toBeLessThanOrEqual(180)
  const perOrganization = Array.from({ length: 13 }, (_, i) => {
    return taken.filter(({ task }) => task.workspace.startsWith(`abuser/o${i}/`)).length
  })
  expect(Math.max(...perOrganization) - Math.min(...perOrganization)).toBeLessThanOrEqual(1)
  add('victim/o/w', 'v', 10)
  expect(count(startAll(), 'workspace', 'victim/o/w')).toBe(5)
})

it('reserves slots for accounts with nothing in flight, however many others there are', () => {
  const { add, startAll } = setup({ slots: 200, tenantOf })
  for (let i = 0; i < 100; i++) add(`a${i}/o/w`, `h${i}`, 50)
  expect(startAll().length).toBeLessThanOrEqual(190)
  for (let i = 0; i < 10; i++) add(`late${i}/o/w`, 'x', 50)
  expect(new Set(startAll().map(({ task }) => task.workspace)).size).toBe(10)
})

it('leaves slots to the other organizations of an account, and to the other workspaces of an organization', () => {
  const { add, startAll } = setup({ slots: 200, permitsPerHost: 200, tenantOf })
  for (let i = 0; i < 20; i++) add('a/o/w', `h${i}`, 50)
  expect(startAll().length).toBeGreaterThan(160)
  add('a/o/other', 'y', 1)
  expect(startAll()).toHaveLength(1)
  add('a/second/w', 'z', 5)
  expect(startAll()).toHaveLength(5)
})

it('reserves permits of a host for other accounts', () => {
  const { add, startAll } = setup({ slots: 1_000, permitsPerHost: 32, tenantOf })
  for (let i = 0; i < 26; i++) add(`abuser/o/w${i}`, 'x', 50)
  expect(startAll()).toHaveLength(29)
  add('victim/o/w', 'x', 50)
  expect(count(startAll(), 'workspace', 'victim/o/w')).toBeGreaterThan(0)
})

it('never gives an organization more than the slots of its tier', () => {
  const { add, startAll } = setup({ slots: 200, tenantOf: id => ({ ...tenantOf(id), slotsPercent: 25 }) })
  for (let i = 0; i < 10; i++) add(`a/o/w${i}`, `h${i}`, 50)
  const taken = startAll()
  expect(taken).toHaveLength(50)
  expect(startAll()).toEqual([])
  add('a/second/w', 'x', 1)
  expect(startAll()).toHaveLength(1)
  taken[0]?.release('healthy')
  expect(startAll()).toHaveLength(1)
})

it('counts a workspace for its new account after a move', () => {
  const tenants = new Map([['w', tenantOf('old/o/w')]])
  const { queues, add, startAll } = setup({ slots: 200, tenantOf: id => tenants.get(id) ?? tenantOf(id) })
  add('w', 'x', 300)
  const taken = startAll()
  tenants.set('w', tenantOf('new/o/w'))
  queues.move('w')
  for (const slot of taken) slot.release('healthy')
  expect(startAll()).toHaveLength(taken.length)
})

it('removes the tasks of one workspace', () => {
  const { queues, add, startAll } = setup({ slots: 2, permitsPerHost: 1 })
  add('a', 'x', 3)
  add('a', 'y', 3)
  add('b', 'y', 3)
  startAll()
  expect(queues.take(({ workspace }) => workspace === 'a')).toHaveLength(5)
  expect(queues.blockedOf('a')).toBe(0)
  expect(queues.take(({ workspace }) => workspace === 'a')).toEqual([])
  expect(queues.take(() => true)).toHaveLength(2)
})

it('returns what has blocked the queue of a task, and until when', () => {
  const { queues, clock, add, startAll } = setup({ slots: 200, permitsPerHost: 2 })
  add('a', 'slow', 3)
  add('a', 'well', 1)
  const taken = startAll()
  expect(taken.map(({ blocks }) => blocks)).toEqual(taken.map(() => ({})))
  clock.now += 5_000
  for (const slot of taken) if (slot.task.host === 'slow') slot.release(null)
  add('a', 'well', 1)
  const untilOf = Object.fromEntries(startAll().map(({ task: { host }, blocks }) => [host, blocks]))
  expect(untilOf).toEqual({ slow: { host_concurrency: clock.now }, well: {} })
  expect(queues.blockedOf('a')).toBe(0)
})
