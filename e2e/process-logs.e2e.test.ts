import { queueBackends, startReceiver } from '@belfry/test-support'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'

let belfry: Belfry
beforeAll(async () => {
  belfry = await startBelfry(queueBackends()[0] ?? 'postgres', { env: { ATTEMPT_LOG_PERCENT: '0' } })
})
afterAll(() => belfry?.close())

it('each process warns in one line of a database that may lose tasks', () => {
  // The server of the tests runs without fsync.
  for (const { name, output } of belfry.services) {
    const lines = output.split('\n').filter(line => line.includes('"database.unfit"'))
    expect([name, lines]).toEqual([name, [expect.stringMatching(/"level":"?(warn|40)"?.*fsync is off/)]])
  }
})

it('ATTEMPT_LOG_PERCENT=0 leaves successful attempts out of the log, and keeps failed ones', async () => {
  const target = await startReceiver()
  onTestFinished(() => target.close())
  target.answer('/fails', { status: 503 })
  for (const path of ['/works', '/works', '/fails']) {
    const task = { name: path, url: target.url(path), method: 'POST', execute_at: inMs(1_500) }
    const created = await belfry.call('POST', '/api/v1/scheduler/tasks', { ...task, retry: { max_retries: 0 } })
    expect(created.status).toBe(201)
  }
  await target.waitFor(3, 20_000)
  const dispatcher = belfry.services.find(({ name }) => name === 'dispatcher')
  await dispatcher?.stop('SIGTERM') // flushes its log
  const lines = dispatcher?.output.split('\n').filter(line => line.includes('"attempt.finished"')) ?? []
  expect(lines.map(line => JSON.parse(line)).map(({ outcome, state }) => [outcome, state])).toEqual([[503, 'dead']])
})
