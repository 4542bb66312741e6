import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'

// biome-ignore lint/suspicious/noExplicitAny: the test looks into answers whose shape it asserts
type Json = any

describe.each(queueBackends())('with %s', backend => {
  let belfry: Belfry
  let target: Receiver
  beforeAll(async () => {
    target = await startReceiver({ otherwise: { status: 500 } })
    belfry = await startBelfry(backend)
  }, 60_000)
  afterAll(async () => {
    await belfry?.close()
    await target?.close()
  })

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

  it('starts no attempt of a task whose deadline passed while no dispatcher ran, and then starts others', async () => {
    const dispatcher = belfry.services.find(({ name }) => name === 'dispatcher')
    await dispatcher?.stop('SIGTERM')
    const expiring = await create({ url: target.url('/expiring'), expires_at: inMs(2_500) })
    const other = await create({ url: target.url('/other') })
    await waitFor(
      async () => Date.now(),
      now => now > Date.parse(expiring.expires_at) + 100,
    )
    await belfry.start('dispatcher')
    expect(await ended(expiring.id)).toMatchObject({
      state: 'dead',
      state_reason: 'expired',
      attempts: 0,
      last_run: null,
    })
    await waitFor(
      () => read(other.id),
      task => task.attempts === 1,
      20_000,
    )
    expect(target.requestsTo('/expiring')).toEqual([])
  }, 60_000)

  it('expires a task at its claim when no scheduler runs', async () => {
    const scheduler = belfry.services.find(({ name }) => name === 'scheduler')
    const dispatcher = belfry.services.findLast(({ name }) => name === 'dispatcher')
    await Promise.all([scheduler?.stop('SIGTERM'), dispatcher?.stop('SIGTERM')])
    const { id, expires_at } = await create({ url: target.url('/unscheduled'), expires_at: inMs(2_000) })
    await waitFor(
      async () => Date.now(),
      now => now > Date.parse(expires_at) + 100,
    )
    expect((await read(id)).state).toBe('pending')
    await belfry.start('dispatcher')
    expect(await ended(id)).toMatchObject({ state: 'dead', state_reason: 'expired', attempts: 0 })
    expect(target.requestsTo('/unscheduled')).toEqual([])
    await belfry.start('scheduler')
  }, 60_000)
})
