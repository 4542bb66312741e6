import { expect, it } from 'vitest'
import { createAttemptsInFlight } from './attempts-in-flight.ts'

it('waits for every attempt, even for those that start when another ends', async () => {
  const attempts = createAttemptsInFlight(2)
  let done = 0
  const attempt = () => {
    attempts.begin()
    setTimeout(() => {
      attempts.end()
      if (++done === 1) attempt()
    }, 5)
  }
  attempt()
  await attempts.finish(1000, () => {})
  expect(done).toBe(2)
})

it('has a capacity', async () => {
  const attempts = createAttemptsInFlight(2)
  const steps = [attempts.begin, attempts.begin, attempts.end, attempts.end]
  const seen = steps.map(step => {
    step()
    return attempts.hasCapacity(0)
  })
  await attempts.finish(1000, () => {})
  expect(seen).toEqual([true, false, true, true])
  expect(attempts.begun).toBe(2)
})

it('does not count slow calls', () => {
  const attempts = createAttemptsInFlight(2)
  for (let i = 0; i < 4; i++) attempts.begin()
  expect([2, 3].map(attempts.hasCapacity)).toEqual([false, true])
})

it('gives up the calls that last longer than its patience, and waits for their records', async () => {
  const attempts = createAttemptsInFlight(2)
  const done: string[] = []
  attempts.begin()
  await attempts.finish(10, () => {
    done.push('given up')
    setTimeout(() => {
      done.push('recorded')
      attempts.end()
    }, 5)
  })
  expect(done).toEqual(['given up', 'recorded'])
})

it('gives up no call when none is in flight', async () => {
  await createAttemptsInFlight(2).finish(0, () => {
    throw new Error('No call is in flight.')
  })
})
