import { queueBackends } from '@belfry/test-support'
import { describe, expect, it } from 'vitest'
import { deliverWhileKilling, successesInOrder } from './kill-dispatchers.ts'

const backend = queueBackends()[0] ?? 'postgres'

describe('queues while dispatchers are killed throughout', () => {
  it('8 dispatchers, 20 queues with max_concurrent 3, 2,000 tasks', async () => {
    const plan = {
      backend,
      dispatchers: 8,
      queues: 20,
      tasksEach: 100,
      limits: { max_concurrent: 3 },
      kills: 12,
      callMs: 200,
    }
    const { target, names, undelivered, killedAt, durationMs } = await deliverWhileKilling(plan)
    console.log({ kills: killedAt.length, calls: target.calls.length, durationMs: Math.round(durationMs) })
    expect(undelivered).toBe(0)
    expect(names.map(name => target.maxInFlight(name)).filter(max => max > 3)).toEqual([])
  }, 500_000)

  it('50 ordered queues of 40 tasks, of which 30 % of the calls fail', async () => {
    const plan = {
      ...{ backend, dispatchers: 4, queues: 50, tasksEach: 40, limits: { ordered: true }, kills: 8, callMs: 10 },
      retry: { max_retries: 20, backoff: 'fixed', base_delay_ms: 1_000, max_delay_ms: 1_000 },
      statusOf: () => (Math.random() < 0.3 ? 500 : 200),
    }
    const { target, names, undelivered, killedAt, durationMs } = await deliverWhileKilling(plan)
    console.log({ kills: killedAt.length, calls: target.calls.length, durationMs: Math.round(durationMs) })
    expect(undelivered).toBe(0)
    for (const name of names) {
      expect(successesInOrder(target, name)).toEqual(Array.from({ length: 40 }, (_, i) => i))
      expect(target.maxInFlight(name)).toBe(1)
    }
  }, 500_000)
})
