import { expect, it } from 'vitest'
import { interleave } from './interleave.ts'
import { createRounds } from './rounds.ts'

it('runs the sides in turns and reverses the order every other round', async () => {
  const order: string[] = []
  const undisturbed = createRounds(3, () => () => 0)
  const side = (name: string) => async () => order.push(name)
  const samples = await interleave({ a: side('a'), b: side('b') }, undisturbed)
  expect(order).toEqual(['a', 'b', 'b', 'a', 'a', 'b'])
  expect(samples).toEqual({ a: [1, 4, 5], b: [2, 3, 6] })
})
