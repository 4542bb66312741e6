import { expect, it } from 'vitest'
import { accountHeadroom, headroom, mayTake } from './fair-share.ts'

/** Lets takers take places round-robin until none of them may take more. Returns what each has. */
function share(places: number, takers: number, weight: number): number[] {
  const taken = Array<number>(takers).fill(0)
  const free = () => places - taken.reduce((sum, one) => sum + one, 0)
  for (let last = -1; last !== free(); ) {
    last = free()
    for (const [i, own] of taken.entries()) if (mayTake(own, free(), weight)) taken[i] = own + 1
  }
  return taken
}

it.each([
  [200, 1, 9, [180]],
  [200, 2, 9, [95, 95]],
  [200, 3, 9, [65, 64, 64]],
  [20, 1, 1, [10]],
  [1, 1, 9, [1]],
  [9, 1, 9, [9]],
])('of %i places, %i takers with weight %i get %j', (places, takers, weight, expected) => {
  expect(share(places, takers, weight)).toEqual(expected)
})

it.each([1, 2, 5, 15])('leaves a place for the next one when %i have taken all they may', takers => {
  const taken = share(200, takers, 9)
  expect(taken.reduce((sum, one) => sum + one)).toBeLessThan(200)
  expect(Math.max(...taken) - Math.min(...taken)).toBeLessThanOrEqual(1)
})

it.each([
  [0, 10, 9],
  [0, 200, 9],
  [50, 150, 9],
  [0, 1, 29],
  [49, 1, 29],
])('returns how many places a holder of %i may take of %i free ones, one after the other', (taken, free, weight) => {
  let steps = 0
  while (mayTake(taken + steps, free - steps, weight)) steps++
  expect(headroom(taken, free, weight)).toBe(steps)
})

it('lets an account alone take nine tenths', () => {
  expect([1, 10, 32, 200].map(places => accountHeadroom(0, places, places))).toEqual([1, 9, 29, 180])
})

it.each([1, 2, 20, 100])(
  'leaves half of a tenth for new accounts, and some for small ones, beside %i others',
  accounts => {
    const taken = Array<number>(accounts).fill(0)
    let free = 200
    for (let last = -1; last !== free; ) {
      last = free
      for (const [i, own] of taken.entries()) {
        if (accountHeadroom(own, free, 200) === 0) continue
        taken[i] = own + 1
        free--
      }
    }
    expect(free).toBeGreaterThanOrEqual(10)
    for (let i = 0; i < 10; i++) expect(accountHeadroom(0, free - i, 200)).toBeGreaterThan(0)
  },
)

it('lets a new account take several places beside an account that has taken all it may', () => {
  let taken = 0
  while (accountHeadroom(taken, 20 - taken, 200) > 0) taken++
  expect(taken).toBe(5)
})
