import { expect, it } from 'vitest'
import { createFifo } from './fifo.ts'

it('lets go in the order of coming, whatever comes and goes meanwhile', () => {
  const fifo = createFifo<number>()
  let [added, left] = [0, 0]
  for (let round = 0; round < 200; round++) {
    for (let i = 0; i < (round * 37) % 101; i++) fifo.add(added++)
    for (let i = 0; i < (round * 53) % 97; i++) {
      expect([fifo.at(0), fifo.at(2)]).toEqual([left, left + 2].map(n => (n < added ? n : undefined)))
      if (left < added) left++
      fifo.drop()
    }
    expect(fifo.size).toBe(added - left)
  }
  expect(fifo.takeAll()).toEqual(Array.from({ length: added - left }, (_, i) => left + i))
  expect([fifo.size, fifo.at(0)]).toEqual([0, undefined])
})
