import { expect, it } from 'vitest'
import { dividePermits, divideRate } from './divide-permits.ts'
import { createStartWindow } from './start-window.ts'

it.each([
  [32, ['a']],
  [32, ['a', 'b', 'c']],
  [7, ['a', 'b']],
  [3, ['a', 'b', 'c']],
])('%d permits among %j are all of them', (permits, live) => {
  const shares = live.map(id => dividePermits(permits, live, id))
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(permits)
  expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
})

it('leaves each dispatcher one permit when there are more dispatchers', () => {
  expect(['a', 'b', 'c'].map(id => dividePermits(2, ['a', 'b', 'c'], id))).toEqual([1, 1, 1])
})

it('counts a dispatcher that is not among the live ones as one more', () => {
  expect(dividePermits(32, ['a'], 'b')).toBe(16)
  expect(dividePermits(32, [], 'b')).toBe(32)
})

it('divides a rate into parts that together never start more calls in a second', () => {
  const live = ['a', 'b', 'c']
  expect(live.map(id => divideRate(50, live, id, noOffset))).toEqual([
    { count: 17, periodMs: 1_000 },
    { count: 17, periodMs: 1_000 },
    { count: 16, periodMs: 1_000 },
  ])
  expect(divideRate(50, [], 'a', noOffset)).toEqual({ count: 50, periodMs: 1_000 })
})

it.each([
  [1, 2],
  [2, 3],
  [3, 5],
  [20, 33],
])('%d calls a second of %d dispatchers take turns', (perSecond, count) => {
  const live = Array.from({ length: count }, (_, i) => `dispatcher ${String(i).padStart(2, '0')}`)
  // Each has a clock of its own, and starts as early or as late in its turn as it can.
  const starts = live.flatMap((id, i) => {
    const window = createStartWindow()
    const rate = divideRate(perSecond, live, id, () => i * 1_000_003)
    const times: number[] = []
    for (let now = -i * 1_000_003; times.length < 50; ) {
      const at = window.nextAt(rate, now)
      const late = (rate.turn?.openMs ?? 0) * (times.length % 2) * 0.99
      if (at <= now || late === 0 || window.nextAt(rate, at + late) > at + late) now = Math.max(at, now)
      else now = at + late
      window.record(now, rate)
      times.push(now + i * 1_000_003)
    }
    return times
  })
  starts.sort((one, other) => one - other)
  const inASecond = starts.map(from => starts.filter(at => at >= from && at < from + 1_000).length)
  expect(Math.max(...inASecond)).toBe(perSecond)
  const perSecondInAll = (starts.length - 1) / ((starts.at(-1) ?? 0) - (starts[0] ?? 0)) / 0.001
  expect(perSecondInAll).toBeGreaterThan(perSecond - 0.3)
})

const noOffset = () => 0
