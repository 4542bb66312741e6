import { setTimeout as sleep } from 'node:timers/promises'
import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Belfry, startBelfry } from '../belfry.ts'
import type { RunningService } from '../processes.ts'

const minuteMs = 60_000
const minutes = 5

describe.concurrent.each(queueBackends())('a cron job on "* * * * *", with the queue on %s', backend => {
  let belfry: Belfry
  let target: Receiver
  beforeAll(async () => {
    target = await startReceiver()
    const services = ['api', 'scheduler', 'scheduler', 'scheduler', 'dispatcher', 'dispatcher'] as const
    belfry = await startBelfry(backend, { services: [...services] })
  })
  afterAll(async () => {
    await belfry?.close()
    await target?.close()
  })

  it('fires once a minute for five minutes, through a restart of each process', async () => {
    const body = { name: 'Every minute', url: target.url('/'), method: 'POST', cron: '* * * * *' }
    const created = await belfry.call('POST', '/api/v1/scheduler/cronjobs', body)
    expect(created.status).toBe(201)
    const first = Date.parse(created.body.next_run_at)
    // Just before each minute, one process ends and starts again. Half of them are killed.
    const restarts = belfry.services.map((service, i) => [service, i % 2 === 0 ? 'SIGKILL' : 'SIGTERM'] as const)
    for (const [i, [service, signal]] of restarts.entries()) {
      await sleep(first + Math.min(i, minutes - 1) * minuteMs - 1500 - Date.now())
      await restart(service, signal)
    }
    await sleep(first + (minutes - 1) * minuteMs + 20_000 - Date.now())
    const calls = target.requests.map(request => ({
      scheduledAt: Date.parse(headerOf(request.rawHeaders, 'X-Belfry-Scheduled-At')),
      lagMs: request.receivedAt - Date.parse(headerOf(request.rawHeaders, 'X-Belfry-Scheduled-At')),
    }))
    console.log(backend, 'lag in ms:', calls.map(({ lagMs }) => Math.round(lagMs)).join(' '))
    expect(calls.map(({ scheduledAt }) => scheduledAt)).toEqual(
      Array.from({ length: minutes }, (_, i) => first + i * minuteMs),
    )
    for (const { lagMs } of calls) expect(lagMs).toBeGreaterThanOrEqual(0)
    for (const { lagMs } of calls) expect(lagMs).toBeLessThan(10_000)
  })

  async function restart(service: RunningService, signal: NodeJS.Signals): Promise<void> {
    await service.stop(signal)
    await belfry.start(service.name)
  }
})

function headerOf(rawHeaders: string[], name: string): string {
  return rawHeaders[rawHeaders.indexOf(name) + 1] ?? ''
}
