import { expect, it } from 'vitest'
import { createAttempts } from './attempts.ts'

it('waits for every attempt, also for one that a finishing one has started', async () => {
  const attempts = createAttempts(() => {})
  let done = 0
  const attempt = async () => {
    await new Promise(resolve => setTimeout(resolve, 5))
    done++
  }
  attempts.track(attempt().then(() => attempts.track(attempt())))
  await attempts.finish(1000)
  expect(done).toBe(2)
})

it('gives up the calls that outlast its patience, and says so as their outcome', async () => {
  const attempts = createAttempts(() => {})
  const outcomes: unknown[] = []
  const hanging = attempts.orStopped(new Promise(() => {}))
  attempts.track(hanging.then(outcome => void outcomes.push(outcome)))
  await attempts.finish(10)
  expect(outcomes).toMatchObject([{ kind: 'failure', code: 'worker_lost' }])
})

it('reports a fault of an attempt and goes on', async () => {
  const faults: unknown[] = []
  const attempts = createAttempts(fault => faults.push(fault))
  attempts.track(Promise.reject(new Error('broken')))
  await attempts.finish(1000)
  expect(faults).toHaveLength(1)
})
