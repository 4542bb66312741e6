import { queueBackends } from '@belfry/test-support'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { newId, reaches, realNow, setClock, useQueue } from './use-queue.ts'

describe.each(queueBackends().filter(backend => backend === 'redis'))('the dispatch queue on %s', () => {
  const test = useQueue()

  describe.each([3_600_000, -3_600_000])('where a clock is wrong by %i ms', skewMs => {
    afterEach(() => void vi.restoreAllMocks())

    it('delivers a task of a producer with that clock in time', async () => {
      await test.queue.ping()
      setClock(skewMs)
      const task = { id: newId(), dueAt: realNow() + 2_000 }
      await test.queue.schedule([task], realNow())
      vi.restoreAllMocks()
      const [lateness = 0] = await test.takeAll(1)
      expect(lateness).toBeGreaterThan(-400)
      expect(lateness).toBeLessThan(1_000)
    })
  })

  it('delivers each task about 250 ms before its time, once however often it was added', async () => {
    await test.queue.ping() // BullMQ sets up its keys with the first use
    const now = Date.now()
    const soon = { id: newId(), dueAt: now + 3000 }
    const past = { id: newId(), dueAt: now - 60_000 }
    for (let i = 0; i < 3; i++) await test.queue.schedule([soon, past], Date.now())
    const { taken } = test.consume()
    await reaches(taken, 2)
    expect(taken.map(({ id, dueAt }) => ({ id, dueAt }))).toEqual([past, soon])
    const [, { at } = { at: 0 }] = taken
    expect(soon.dueAt - at).toBeLessThanOrEqual(260)
    expect(soon.dueAt - at).toBeGreaterThan(-500)
    await test.queue.schedule([past], Date.now())
    await reaches(taken, 3) // a finished job does not block a repair
  })
})
