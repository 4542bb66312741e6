import { expect, it } from 'vitest'
import { parseTicks, stolenShare } from './stolen-time.ts'

it('is the eighth of the times of all processors', () => {
  const stat = 'cpu  100 5 50 1000 20 0 5 40 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n'
  expect(parseTicks(stat)).toEqual({ all: 1220, stolen: 40 })
})

it('is told as a share of the time between two readings', () => {
  expect(stolenShare({ all: 1000, stolen: 40 }, { all: 1400, stolen: 50 })).toBe(0.025)
  expect(stolenShare({ all: 1000, stolen: 40 }, { all: 1000, stolen: 40 })).toBe(0)
})
