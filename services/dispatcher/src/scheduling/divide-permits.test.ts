import { expect, it } from 'vitest'
import { dividePermits, divideRate } from './divide-permits.ts'

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
  expect(live.map(id => divideRate(50, live, id))).toEqual([
    { count: 17, periodMs: 1_000 },
    { count: 17, periodMs: 1_000 },
    { count: 16, periodMs: 1_000 },
  ])
  expect(live.map(id => divideRate(2, live, id))).toEqual(Array(3).fill({ count: 1, periodMs: 1_500 }))
  expect(divideRate(3, live, 'new')).toEqual({ count: 1, periodMs: 1_000 * (4 / 3) })
  expect(divideRate(50, [], 'a')).toEqual({ count: 50, periodMs: 1_000 })
})
