import { queueBackends, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { describe, expect, it, onTestFinished } from 'vitest'
import { inMs } from './api-calls.ts'
import { startBelfry, useBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'

describe.each(queueBackends())('with the queue on %s', backend => {
  const belfry = useBelfry(backend)

  it('a task is delivered less than 500 ms late', async () => {
    const target = await startReceiver()
    onTestFinished(() => target.close())
    const dueAt = Date.now() + 2000
    const body = { name: 'punctual', url: target.url('/'), method: 'PUT', execute_at: new Date(dueAt).toISOString() }
    const { body: task } = await belfry.call('POST', tasks, body)
    const [request] = await target.waitFor(1, 10_000)
    expect((request?.receivedAt ?? 0) - dueAt).toBeLessThan(500)
    const { last_run } = await waitFor(
      async () => (await belfry.call('GET', `${tasks}/${task.id}`)).body,
      ({ state }) => state === 'success',
    )
    expect((await belfry.call('GET', `/api/v1/scheduler/runs/${last_run.id}`)).body.lag_ms).toBeLessThan(500)
  })

  it('thirty cron jobs fire less than 1.5 s late with several schedulers and dispatchers', async () => {
    const target = await startReceiver()
    onTestFinished(() => target.close())
    const services = ['api', 'scheduler', 'scheduler', 'scheduler', 'dispatcher', 'dispatcher'] as const
    const own = await startBelfry(backend, { services: [...services] })
    onTestFinished(() => own.close())
    const job = { name: 'A cron job', url: target.url('/'), method: 'POST', cron: '0 0 1 1 *' }
    const created = await Promise.all(
      Array.from({ length: 30 }, () => own.call('POST', '/api/v1/scheduler/cronjobs', job)),
    )
    expect(created.map(({ status }) => status)).toEqual(Array(30).fill(201))
    // Schedulers with nothing to do look every 15 seconds, and no API call tells them of this change.
    const moved = `UPDATE cron_jobs SET next_run_at = date_trunc('second', now()) + interval '17 seconds' RETURNING next_run_at AS at`
    const [{ at } = { at: null }] = await own.execute(moved)
    const requests = await target.waitFor(30, 30_000)
    for (const { receivedAt } of requests) expect(receivedAt - Number(at)).toBeLessThan(1500)
  }, 60_000)

  it('a task that waits for a retry or for a circuit breaker ends less than 6 s after its deadline', async () => {
    const target = await startReceiver({ otherwise: { status: 500 } })
    onTestFinished(() => target.close())
    const create = async (more: object) => {
      const body = { name: 'A', url: target.url('/'), method: 'POST', execute_at: inMs(1_500), ...more }
      const { status, body: task } = await belfry.call('POST', tasks, body)
      expect(status).toBe(201)
      return task.id as string
    }
    const expectEnded = async (id: string) => {
      const { finished_at, expires_at } = await waitFor(
        async () => (await belfry.call('GET', `${tasks}/${id}`)).body,
        task => task.finished_at !== null,
        20_000,
      )
      expect(Date.parse(finished_at) - Date.parse(expires_at)).toBeLessThan(6_000)
    }
    const retry = { max_retries: 5, backoff: 'fixed', base_delay_ms: 600_000, max_delay_ms: 600_000 }
    await expectEnded(await create({ expires_at: inMs(5_000), retry }))
    // All 60 may start before the first has failed, and one of the two dispatchers makes at least 30 of them. Then the last
    // ten are due.
    const row = { name: 'A', url: target.url('/'), method: 'POST', retry: { max_retries: 0 }, expires_at: inMs(14_000) }
    const [first, then] = [inMs(4_000), inMs(7_000)].map(execute_at => ({ ...row, execute_at }))
    await belfry.call('POST', `${tasks}/batch`, { tasks: [...Array(60).fill(first), ...Array(10).fill(then)] })
    const blocked = await waitFor(
      async () =>
        (await belfry.call('GET', `${tasks}?state=pending&limit=100`)).body.data.filter(
          (task: { blocked: unknown }) => task.blocked,
        ),
      found => found.length > 0,
      30_000,
    )
    await Promise.all(blocked.map(({ id }: { id: string }) => expectEnded(id)))
  }, 60_000)
})
