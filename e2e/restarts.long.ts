import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'

// The installations wait at the same time; the tests of each run in turn.
describe.concurrent.each(queueBackends())('waiting tasks, with the queue on %s', backend => {
  let belfry: Belfry
  let target: Receiver
  beforeEach(async () => {
    target = await startReceiver()
    belfry = await startBelfry(backend)
  })
  afterEach(async () => {
    await belfry?.close()
    await target?.close()
  })

  const schedule = async (count: number, aheadMs: number) => {
    const executeAt = inMs(aheadMs)
    const answers = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        belfry.call('POST', tasks, {
          name: `${i}`,
          url: target.url(`/${i}`),
          method: 'POST',
          execute_at: executeAt,
        }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(count).fill(201))
  }
  const allDelivered = async (count: number, timeoutMs: number) => {
    const deadlineAt = Date.now() + timeoutMs
    await target.waitFor(count, timeoutMs)
    const list = async () => (await belfry.call('GET', `${tasks}?state=success&limit=100`)).body.data.length
    await waitFor(list, done => done === count, Math.max(1000, deadlineAt - Date.now()))
    expect(target.requests).toHaveLength(count)
  }

  it.sequential('survive a restart of every process; each ends with code 0', async () => {
    await schedule(30, 3000)
    const codes = await Promise.all(belfry.services.map(service => service.stop('SIGTERM')))
    expect(codes).toEqual([0, 0, 0])
    await Promise.all((['api', 'scheduler', 'dispatcher'] as const).map(name => belfry.start(name)))
    await allDelivered(30, 20_000)
  })

  it.sequential('survive kill -9 of every process', async () => {
    await schedule(30, 3000)
    await Promise.all(belfry.services.map(service => service.stop('SIGKILL')))
    await Promise.all((['api', 'scheduler', 'dispatcher'] as const).map(name => belfry.start(name)))
    await allDelivered(30, 30_000)
  })

  it.sequential('and calls in flight are finished, not repeated, after SIGTERM of the dispatcher', async () => {
    for (let i = 0; i < 10; i++) target.answer(`/${i}`, { status: 200, delayMs: 1500 })
    await schedule(10, 1500)
    await target.waitFor(10, 5000)
    const dispatcher = belfry.services.find(({ name }) => name === 'dispatcher')
    expect(await dispatcher?.stop('SIGTERM')).toBe(0)
    await belfry.start('dispatcher')
    await allDelivered(10, 10_000)
  })

  it.sequential('each name their sessions in PostgreSQL', async () => {
    const client = new pg.Client({ connectionString: belfry.databaseUrl })
    await client.connect()
    const text = 'SELECT DISTINCT application_name FROM pg_stat_activity WHERE datname = current_database()'
    const names = (await client.query(text)).rows.map(row => row.application_name)
    await client.end()
    expect(names).toEqual(expect.arrayContaining(['belfry-api', 'belfry-scheduler', 'belfry-dispatcher']))
  })

  // Only the data of Redis can be lost separately.
  const ifVolatile = backend === 'redis' ? it.sequential : () => {}
  ifVolatile('survive FLUSHALL: those due soon and those already handed over', async () => {
    await schedule(30, 4000)
    const redis = new Redis(belfry.redisUrl ?? '')
    await waitFor(
      () => redis.dbsize(),
      size => size > 30,
    )
    await redis.flushall()
    redis.disconnect()
    await allDelivered(30, 60_000)
  })

  ifVolatile('survive kill -9 of the dispatcher that has buffered them', async () => {
    await schedule(30, 20_000) // on a busy machine their promotion takes seconds
    const redis = new Redis(belfry.redisUrl ?? '')
    const delayed = (isEnough: (jobs: number) => boolean) =>
      waitFor(() => redis.zcard('{belfry}:dispatch:delayed'), isEnough, 25_000)
    await redis.flushall()
    await delayed(jobs => jobs > 0 && jobs < 10) // promoted again, many tasks to a job
    await delayed(jobs => jobs === 0)
    redis.disconnect()
    await belfry.services.find(({ name }) => name === 'dispatcher')?.stop('SIGKILL')
    await belfry.start('dispatcher')
    await allDelivered(30, 60_000)
  })

  it.sequential('are delivered by the scheduler if the job was lost or never added', async () => {
    await schedule(5, 2500)
    await Promise.all(belfry.services.filter(({ name }) => name !== 'api').map(service => service.stop('SIGTERM')))
    const api = belfry.services.find(({ name }) => name === 'api')
    await api?.stop('SIGKILL')
    await Promise.all((['api', 'scheduler', 'dispatcher'] as const).map(name => belfry.start(name)))
    await allDelivered(5, 30_000)
  })
})

describe.concurrent('a call of more than 30 seconds', () => {
  it.each(queueBackends())(
    'is finished when DRAIN_SECONDS allows it, with the queue on %s',
    async backend => {
      const target = await startReceiver()
      const belfry = await startBelfry(backend)
      try {
        await belfry.services.find(({ name }) => name === 'dispatcher')?.stop('SIGTERM')
        const patient = await belfry.start('dispatcher', { DRAIN_SECONDS: '60' })
        target.answer('/0', { status: 200, delayMs: 32_000 })
        const task = { name: 'long', url: target.url('/0'), method: 'POST', execute_at: inMs(1000), timeout_ms: 50_000 }
        const created = await belfry.call('POST', tasks, task)
        expect(created.status).toBe(201)
        await target.waitFor(1, 10_000)
        expect(await patient.stop('SIGTERM')).toBe(0)
        await belfry.start('dispatcher')
        const stateOf = async () => (await belfry.call('GET', `${tasks}/${created.body.id}`)).body.state
        await waitFor(stateOf, state => state === 'success', 10_000)
        expect(target.requests).toHaveLength(1)
      } finally {
        await belfry.close()
        await target.close()
      }
    },
    90_000,
  )
})
