import { expect, it } from 'vitest'
import { countEffects, holds } from './count-effects.ts'

const once = (order: number) => ({ order, times: 1 })

it.each([
  ['nothing', [once(1), once(2)], {}],
  ['an order without an effect', [once(1)], { lost: 1 }],
  ['an order with two effects', [once(1), { order: 2, times: 2 }], { doubled: 1 }],
  ['an effect of an order that was rolled back', [once(1), once(2), once(3)], { rolledBack: 1 }],
  ['one of each', [{ order: 1, times: 3 }, once(3)], { lost: 1, doubled: 1, rolledBack: 1 }],
])('finds %s', (_, effects, found) => {
  const counts = countEffects([1, 2], effects)
  expect(counts).toEqual({ lost: 0, doubled: 0, rolledBack: 0, ...found })
  expect(holds({ ...counts, inFlight: 0 })).toBe(Object.keys(found).length === 0)
  expect(holds({ ...counts, inFlight: 1 })).toBe(false)
})
