import { expect, it } from 'vitest'
import { inFlight, type Progress, untilProgress } from './progress.ts'

const at = (ended: number, attempts = ended): Progress => ({ last: 9, outbox: 0, open: 9 - ended, ended, attempts })

/** Observes these, one after another, and then the last one again and again. */
function observing(...seen: Progress[]) {
  let i = 0
  return async () => seen[Math.min(i++, seen.length - 1)] as Progress
}

const isDone = (progress: Progress) => inFlight(progress, 9) === 0

it('waits for longer than the bound while something moves, be it an attempt', async () => {
  const slow = Array.from({ length: 40 }, (_, i) => at(1, i))
  const begin = performance.now()
  expect(await untilProgress(observing(...slow, at(9)), isDone, { pollMs: 5, maxStillMs: 100 })).toEqual(at(9))
  expect(performance.now() - begin).toBeGreaterThan(100)
})

it('returns the calls in flight when nothing has moved for the bound', async () => {
  const stopped = await untilProgress(observing(at(1), at(8)), isDone, { pollMs: 1, maxStillMs: 20 })
  expect([stopped, inFlight(stopped, 9)]).toEqual([at(8), 1])
})

it('counts orders that are not placed, wait in the outbox or have an open call', () => {
  expect(inFlight({ last: 5, outbox: 2, open: 1, ended: 2, attempts: 3 }, 9)).toBe(7)
})
