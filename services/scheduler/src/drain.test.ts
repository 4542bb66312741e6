import { expect, it } from 'vitest'
import { drain } from './drain.ts'

it('repeats the step until it handles less than a batch', async () => {
  const batches = [3, 3, 1, 3]
  expect(await drain(new AbortController().signal, 3, async () => batches.shift() ?? 0)).toBe(7)
  expect(batches).toEqual([3])
})

it('ends after the step during which the signal is aborted', async () => {
  const stop = new AbortController()
  let steps = 0
  const step = async (batchSize: number) => {
    if (++steps === 2) stop.abort()
    return batchSize
  }
  expect([await drain(stop.signal, 3, step), steps]).toEqual([6, 2])
})

it('runs no step when the signal is aborted already', async () => {
  let steps = 0
  expect(await drain(AbortSignal.abort(), 3, async () => ++steps)).toBe(0)
  expect(steps).toBe(0)
})
