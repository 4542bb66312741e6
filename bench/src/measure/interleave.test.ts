import { expect, it } from 'vitest'
import { interleave } from './interleave.ts'

it('runs every side once a round and reverses the order every other round', async () => {
  const order: string[] = []
  const side = (name: string) => async () => order.push(name)
  const samples = await interleave({ a: side('a'), b: side('b') }, 3)
  expect(order).toEqual(['a', 'b', 'b', 'a', 'a', 'b'])
  expect(samples).toEqual({ a: [1, 4, 5], b: [2, 3, 6] })
})
