import { expect, it } from 'vitest'
import { mayTake } from './fair-share.ts'

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
