import { expect, it } from 'vitest'
import { setup } from '../../test/scheduling/setup-queues.ts'

it('starts no task of a paused queue, and all of them once it is resumed', () => {
  const { queues, add, startAll } = setup()
  const [paused, other] = [
    { workspace: 'a', host: 'x' },
    { workspace: 'b', host: 'y' },
  ]
  expect(queues.setPaused([paused, other])).toEqual([paused, other])
  expect(queues.setPaused([other, paused])).toEqual([])
  add('a', 'x', 2)
  add('a', 'y')
  add('b', 'x')
  expect(
    startAll()
      .map(({ task }) => task.workspace + task.host)
      .sort(),
  ).toEqual(['ay', 'bx'])
  expect([queues.blockedOf('a'), queues.openCircuits()]).toEqual([2, []])
  expect(queues.setPaused([other])).toEqual([paused])
  const started = startAll()
  expect(started.map(({ blocks }) => Object.keys(blocks))).toEqual([['host_paused'], ['host_paused']])
  expect(queues.blockedOf('a')).toBe(0)
})

it('starts exempt tasks of a paused queue in their order, those that waited before the pause too', () => {
  const { queues, add, startAll } = setup({ slots: 20, isExempt: ({ n }) => n % 10 === 0 })
  const key = { workspace: 'a', host: 'x' }
  queues.openCircuit(key, Number.POSITIVE_INFINITY)
  add('a', 'x', 12)
  queues.setPaused([key])
  expect(startAll()).toEqual([])
  queues.resetCircuit(key)
  expect(startAll().map(({ task }) => task.n)).toEqual([0, 10])
  add('a', 'x', 10)
  expect(startAll().map(({ task }) => task.n)).toEqual([20])
  expect(queues.blockedOf('a')).toBe(19)
  queues.setPaused([])
  expect(startAll().length).toBeGreaterThan(10)
})

it('returns the prefetched tasks of a paused queue, and then lets exempt ones pass', () => {
  const { queues, clock, add, startAll } = setup({ slots: 2, permitsPerHost: 2, isExempt: ({ n }) => n === 9 })
  add('a', 'x', 10)
  let [slot] = startAll()
  for (let i = 0; i < 3; i++) {
    clock.now += 100
    slot?.release('healthy')
    ;[slot] = startAll()
  }
  const prefetched = slot?.prefetchNext() ?? []
  expect(prefetched.length).toBeGreaterThan(0)
  queues.setPaused([{ workspace: 'a', host: 'x' }])
  slot?.release('healthy')
  expect([slot?.prefetchNext(), startAll()]).toEqual([[], []])
  expect(queues.takeDelayed(60_000)).toEqual(prefetched)
  expect(startAll().map(({ task }) => task.n)).toEqual([9])
})
