import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { type Belfry, startBelfry } from '../belfry.ts'
import { type QueueTarget, startQueueTarget } from './queue-target.ts'

const limit = 60
// A dispatcher counts as live for three seconds after its last heartbeat.
const noticedMs = 5_000

let belfry: Belfry
let target: QueueTarget
beforeAll(async () => {
  target = await startQueueTarget(150)
  belfry = await startBelfry('postgres', { env: { HOST_CONCURRENCY: String(limit) } })
  await Promise.all([belfry.start('dispatcher'), belfry.start('dispatcher')])
}, 60_000)
afterAll(async () => {
  await belfry?.close()
  await target?.close()
})

async function callAll(round: string): Promise<void> {
  const execute_at = inMs(1_500)
  const tasks = Array.from({ length: 600 }, (_, i) => {
    return { name: 'Call', url: target.url(round, i), method: 'POST', execute_at }
  })
  await belfry.call('POST', '/api/v1/scheduler/tasks/batch', { tasks })
  await waitFor(
    async () => target.succeeded(round).length,
    count => count === 600,
    40_000,
  )
}

it('HOST_CONCURRENCY limits the calls of all dispatchers together, as they come and go', async () => {
  await sleep(noticedMs)
  await callAll('three')
  expect(target.maxInFlight('three')).toBeLessThanOrEqual(limit)
  const last = belfry.services.filter(({ name }) => name === 'dispatcher').at(-1)
  await last?.stop('SIGTERM')
  await sleep(noticedMs)
  await callAll('two')
  expect(target.maxInFlight('two')).toBeLessThanOrEqual(limit)
  // More than two thirds: the others have divided the permits of the third.
  expect(target.maxInFlight('two')).toBeGreaterThan(40)
}, 120_000)
