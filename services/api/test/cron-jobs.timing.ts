import { expect, it } from 'vitest'
import { refusedExpressions } from './refused-expressions.ts'
import { type Answer, useApi } from './setup.ts'

const api = useApi()
const path = '/api/v1/scheduler/cronjobs'
const minutely = { name: 'Every minute', url: 'https://example.com/hook', method: 'POST' }

/** Returns the fastest of a few calls: the machine has other load. */
async function quickest(call: () => Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  let ms = Number.POSITIVE_INFINITY
  for (let i = 0; ; i++) {
    const start = performance.now()
    const answer = await call()
    ms = Math.min(ms, performance.now() - start)
    if (i === 4) return { answer, ms }
  }
}

it('previews 50 runs within 20 ms', async () => {
  const body = { cron: '30 2 * * *', timezone: 'Europe/Berlin', from: '2027-03-26T12:00:00Z', count: 50 }
  const { answer, ms } = await quickest(() => api.call('POST', `${path}/preview`, body))
  expect(answer.body.next_runs).toHaveLength(50)
  expect(ms).toBeLessThan(20)
})

it.each(refusedExpressions)('refuses an expression within 50 ms: %#', async cron => {
  for (const [to, body] of [
    ['', minutely],
    ['/preview', {}],
  ] as const) {
    const { answer, ms } = await quickest(() => api.call('POST', path + to, { ...body, cron }))
    expect(answer.status).toBe(400)
    expect(ms).toBeLessThan(50)
  }
})
