import { expect, it } from 'vitest'
import { inHashingSlot } from './password.ts'

it('hashes two passwords at a time, lets 200 wait in order, and refuses the rest', async () => {
  const ends: Array<() => void> = []
  const started: number[] = []
  const results = Array.from({ length: 203 }, (_, i) =>
    inHashingSlot(async () => {
      started.push(i)
      await new Promise<void>(resolve => ends.push(resolve))
      if (i === 1) throw new Error('broken')
      return i
    }).catch(error => error.code ?? error.message),
  )
  expect(await results[202]).toBe('rate_limited')
  expect(started).toEqual([0, 1])
  for (let i = 0; i < 202; i++) {
    ends[i]?.()
    await results[i]
    await new Promise(resolve => setImmediate(resolve))
    expect(started.length).toBe(Math.min(202, i + 3))
  }
  const indexes = Array.from({ length: 202 }, (_, i) => i)
  expect(await Promise.all(results)).toEqual([0, 'broken', ...indexes.slice(2), 'rate_limited'])
  expect(started).toEqual(indexes)
})
