import { expect, it } from 'vitest'
import { limitParallel } from './limit-parallel.ts'

it('runs so many at a time, lets so many wait in order, and refuses the rest', async () => {
  const limit = limitParallel({ most: 2, mostWaiting: 3 })
  const ends: Array<() => void> = []
  const started: number[] = []
  const results = Array.from({ length: 6 }, (_, i) =>
    limit(async () => {
      started.push(i)
      await new Promise<void>(resolve => ends.push(resolve))
      if (i === 1) throw new Error('broken')
      return i
    }).catch(error => error.code ?? error.message),
  )
  expect(await results[5]).toBe('rate_limited')
  expect(started).toEqual([0, 1])
  for (let i = 0; i < 5; i++) {
    ends[i]?.()
    await results[i]
    expect(started.length).toBe(Math.min(5, i + 3))
  }
  expect(await Promise.all(results)).toEqual([0, 'broken', 2, 3, 4, 'rate_limited'])
  expect(started).toEqual([0, 1, 2, 3, 4])
})
