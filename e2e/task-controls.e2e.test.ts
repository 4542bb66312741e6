import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { inMs } from './api-calls.ts'
import { useBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'

// biome-ignore lint/suspicious/noExplicitAny: the test looks into answers whose shape it asserts
type Json = any

describe.each(queueBackends().slice(0, propertyRuns(2, 1)))('with %s', backend => {
  const belfry = useBelfry(backend)
  let target: Receiver
  beforeAll(async () => {
    target = await startReceiver({ otherwise: { status: 500 } })
  })
  afterAll(() => target?.close())

  const create = async (changes: object): Promise<Json> => {
    const retry = { max_retries: 5, backoff: 'fixed', base_delay_ms: 600_000, max_delay_ms: 600_000 }
    const body = { name: 'A', url: target.url('/hook'), method: 'POST', execute_at: inMs(1_500), retry, ...changes }
    const answer = await belfry.call('POST', tasks, body)
    expect(answer.status).toBe(201)
    return answer.body
  }
  const read = async (id: string): Promise<Json> => (await belfry.call('GET', `${tasks}/${id}`)).body
  const ended = (id: string) =>
    waitFor(
      () => read(id),
      task => task.finished_at !== null,
      20_000,
    )

  it('ends a task that waits for a retry at its deadline', async () => {
    const { id, expires_at } = await create({ expires_at: inMs(5_000) })
    const task = await ended(id)
    expect(task).toMatchObject({ state: 'dead', state_reason: 'expired', attempts: 1, next_retry_at: null })
    expect(Date.parse(task.finished_at)).toBeGreaterThanOrEqual(Date.parse(expires_at))
    const dead = (await belfry.call('GET', '/api/v1/scheduler/dead-letters')).body.data
    expect(dead.map((one: Json) => one.id)).toContain(id)
  })

  it('ends a task that waits for a circuit breaker at its deadline', async () => {
    const failing = await startReceiver({ otherwise: { status: 500 } }) // a host of its own, which is blocked afterwards
    onTestFinished(() => failing.close())
    // All 60 may start before the first has failed, and one of the two dispatchers makes at least 30 of them. Then the last
    // ten are due.
    const row = {
      name: 'A',
      url: failing.url('/'),
      method: 'POST',
      retry: { max_retries: 0 },
      expires_at: inMs(14_000),
    }
    const [first, then] = [inMs(4_000), inMs(7_000)].map(execute_at => ({ ...row, execute_at }))
    await belfry.call('POST', `${tasks}/batch`, { tasks: [...Array(60).fill(first), ...Array(10).fill(then)] })
    const waiting = async () =>
      (await belfry.call('GET', `${tasks}?state=pending&limit=100`)).body.data.filter((task: Json) => task.blocked)
    const blocked: Json[] = await waitFor(waiting, found => found.length > 0, 30_000)
    // The other dispatcher may still call the host for some of them.
    const tasksAfter = await Promise.all(blocked.map(({ id }) => ended(id)))
    const expired = tasksAfter.filter(task => task.state_reason === 'expired')
    expect(expired).not.toEqual([])
    for (const task of expired) expect(task).toMatchObject({ state: 'dead', attempts: 0 })
  }, 60_000)

  it('cancels 1,001 tasks in the background, and stops a task that waits for a retry', async () => {
    const stopped = await create({ url: target.url('/stopped') })
    await waitFor(
      () => read(stopped.id),
      task => task.state === 'retrying',
      20_000,
    )
    expect((await belfry.call('POST', `${tasks}/${stopped.id}/stop`)).body).toMatchObject({ state_reason: 'stopped' })
    const row = { name: 'B', url: target.url('/bulk'), method: 'POST', execute_at: inMs(3_600_000), labels: ['bulk'] }
    for (const count of [1_000, 1]) await belfry.call('POST', `${tasks}/batch`, { tasks: Array(count).fill(row) })
    const { body } = await belfry.call('POST', `${tasks}/cancel`, { filter: { label: 'bulk' } })
    const done = await waitFor(
      async () => (await belfry.call('GET', `${tasks}/operations/${body.operation.id}`)).body,
      operation => operation.status !== 'running',
      30_000,
    )
    expect(done).toMatchObject({ status: 'done', total: 1_001, ended: 1_001 })
    const count = await belfry.call('GET', `${tasks}/count?label=bulk&state=cancelled`)
    expect(count.body).toEqual({ count: 1_001, is_capped: false })
  }, 60_000)
})
