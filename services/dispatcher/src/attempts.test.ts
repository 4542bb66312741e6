import { expect, it } from 'vitest'
import { createAttempts } from './attempts.ts'

it('waits for every attempt, also for one that a finishing one has started', async () => {
  const attempts = createAttempts(2, () => {})
  let done = 0
  const attempt = async () => {
    await new Promise(resolve => setTimeout(resolve, 5))
    done++
  }
  attempts.track(attempt(), () => done === 1 && attempts.track(attempt(), () => {}))
  await attempts.finish(1000, () => {})
  expect(done).toBe(2)
})

it('has room for so many at a time', async () => {
  const attempts = createAttempts(2, () => {})
  const rooms: boolean[] = []
  const note = () => rooms.push(attempts.haveRoom)
  note()
  for (let i = 0; i < 2; i++) {
    attempts.track(Promise.resolve(), note)
    note()
  }
  await attempts.finish(1000, () => {})
  expect(rooms).toEqual([true, true, false, true, true])
})

it('gives up the calls that outlast its patience, and waits for what becomes of them', async () => {
  const attempts = createAttempts(2, () => {})
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

it('gives nothing up when it has nothing to wait for', async () => {
  await createAttempts(2, () => {}).finish(0, () => {
    throw new Error('There is nothing to give up.')
  })
})

it('reports a fault of an attempt and goes on', async () => {
  const faults: unknown[] = []
  const attempts = createAttempts(2, fault => faults.push(fault))
  attempts.track(Promise.reject(new Error('broken')), () => {})
  await attempts.finish(1000, () => {})
  expect(faults).toHaveLength(1)
})
