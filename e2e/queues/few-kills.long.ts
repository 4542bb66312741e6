import { queueBackends } from '@belfry/test-support'
import { describe, expect, it } from 'vitest'
import { deliverWhileKilling, successesInOrder } from './kill-dispatchers.ts'

// kills.long.ts has the same with more of everything.
describe.each(queueBackends().slice(0, 1))('queues while dispatchers are killed, on %s', backend => {
  it('never have more calls in flight than their limit, and all of their tasks are delivered', async () => {
    const plan = {
      backend,
      dispatchers: 3,
      queues: 4,
      tasksEach: 40,
      limits: { max_concurrent: 3 },
      kills: 2,
      callMs: 60,
    }
    const { target, names, undelivered } = await deliverWhileKilling(plan)
    expect(undelivered).toBe(0)
    expect(names.map(name => target.maxInFlight(name)).filter(max => max > 3)).toEqual([])
    expect(Math.max(...names.map(name => target.maxInFlight(name)))).toBe(3)
  }, 200_000)

  it('keep their order, with failures', async () => {
    const failed = new Set<string>()
    const plan = {
      ...{ backend, dispatchers: 2, queues: 6, tasksEach: 8, limits: { ordered: true }, kills: 1, callMs: 10 },
      retry: { max_retries: 10, backoff: 'fixed', base_delay_ms: 1_000, max_delay_ms: 1_000 },
      statusOf: (queue: string, index: number) => {
        const call = `${queue} ${index}`
        if (index % 3 !== 1 || failed.has(call)) return 200
        failed.add(call)
        return 500
      },
    }
    const { target, names, undelivered } = await deliverWhileKilling(plan)
    expect(undelivered).toBe(0)
    for (const name of names) {
      expect(successesInOrder(target, name)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
      expect(target.maxInFlight(name)).toBe(1)
    }
  }, 200_000)
})
