import { queueBackends } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { expect, it, onTestFinished } from 'vitest'
import { inMs } from '../api-calls.ts'
import { startBelfry } from '../belfry.ts'
import { startQueueTarget } from './queue-target.ts'

it.each(queueBackends())(
  'the calls of a queue on %s follow their claims within a quarter of a second, and use its rate limit',
  async backend => {
    const target = await startQueueTarget(5)
    onTestFinished(() => target.close())
    const belfry = await startBelfry(backend, { env: { HOST_CONCURRENCY: '200' } })
    onTestFinished(() => belfry.close())
    await belfry.start('dispatcher')
    const queue = { name: 'rated', rate_limit: { count: 10, period_ms: 500 } }
    const at = Date.parse(inMs(5_000))
    const tasks = Array.from({ length: 60 }, (_, i) => {
      const execute_at = new Date(at + i).toISOString()
      return { name: `${i}`, url: target.url('rated', i), method: 'POST', execute_at, queue }
    })
    await belfry.call('POST', '/api/v1/scheduler/tasks/batch', { tasks })
    await waitFor(
      async () => target.succeeded('rated').length,
      found => found >= 60,
      40_000,
    )
    const starts = target.calls.map(({ startedAt }) => startedAt).sort((a, b) => a - b)
    const windows = starts.slice(10).map((start, i) => start - (starts[i] ?? 0))
    // Not each call after the same time.
    expect(Math.min(...windows)).toBeGreaterThan(250)
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeLessThan(10_000) // the limit alone takes 2.5 s
  },
  60_000,
)
