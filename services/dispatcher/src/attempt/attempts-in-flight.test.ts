import { expect, it } from 'vitest'
import { createAttemptsInFlight } from './attempts-in-flight.ts'

it('waits for every attempt, even for those that start when another ends', async () => {
  const attempts = createAttemptsInFlight(2, () => {})
  let done = 0
  const attempt = async () => {
    await new Promise(resolve => setTimeout(resolve, 5))
    done++
  }
  attempts.track(attempt(), () => done === 1 && attempts.track(attempt(), () => {}))
  await attempts.finish(1000, () => {})
  expect(done).toBe(2)
})

it('has a capacity', async () => {
  const attempts = createAttemptsInFlight(2, () => {})
  const seen: boolean[] = []
  const record = () => seen.push(attempts.hasCapacity)
  record()
  for (let i = 0; i < 2; i++) {
    attempts.track(Promise.resolve(), record)
    record()
  }
  await attempts.finish(1000, () => {})
  expect(seen).toEqual([true, true, false, true, true])
})

it('gives up the calls that last longer than its patience, and waits for their records', async () => {
  const attempts = createAttemptsInFlight(2, () => {})
  const done: string[] = []
  let giveUp = () => {}
  const hanging = new Promise<void>(resolve => {
    giveUp = resolve
  })
  attempts.track(
    hanging.then(() => void done.push('recorded')),
    () => {},
  )
  await attempts.finish(10, () => {
    done.push('given up')
    giveUp()
  })
  expect(done).toEqual(['given up', 'recorded'])
})

it('gives up no call when none is in flight', async () => {
  await createAttemptsInFlight(2, () => {}).finish(0, () => {
    throw new Error('No call is in flight.')
  })
})

it('reports a fault of an attempt and continues', async () => {
  const faults: unknown[] = []
  const attempts = createAttemptsInFlight(2, fault => faults.push(fault))
  attempts.track(Promise.reject(new Error('broken')), () => {})
  await attempts.finish(1000, () => {})
  expect(faults).toHaveLength(1)
})
