import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Belfry, startBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'
const subscriptions = '/api/v1/scheduler/subscriptions'
const deadLetters = '/api/v1/scheduler/dead-letters'
const retry = { max_retries: 2, backoff: 'fixed', base_delay_ms: 1000, max_delay_ms: 1000 }

describe.each(queueBackends())('with the queue on %s', backend => {
  let belfry: Belfry
  let target: Receiver
  beforeAll(async () => {
    target = await startReceiver()
    belfry = await startBelfry(backend)
  })
  afterAll(async () => {
    await belfry?.close()
    await target?.close()
  })

  const header = (path: string, name: string) => {
    const raw = target.requestsTo(path)[0]?.rawHeaders ?? []
    return raw[raw.findIndex(each => each.toLowerCase() === name) + 1]
  }
  const inState = (id: string, state: string) =>
    waitFor(
      async () => (await belfry.call('GET', `${tasks}/${id}`)).body,
      task => task.state === state,
    )

  it('an event is sent at once, byte for byte, with its topic', async () => {
    const body = `{"topic":"orders.paid","payload":{"n":1.10},"target_url":"${target.url('/event')}"}`
    const { body: event } = await belfry.call('POST', '/api/events', body)
    await target.waitFor(requests => requests.some(({ path }) => path === '/event'))
    const [request] = target.requestsTo('/event')
    expect([request?.method, request?.body.toString()]).toEqual(['POST', '{"n":1.10}'])
    expect(header('/event', 'x-belfry-topic')).toBe('orders.paid')
    expect(header('/event', 'webhook-id')).toBe(event.tasks[0].id)
    const { last_run } = await inState(event.tasks[0].id, 'success')
    const { body: run } = await belfry.call('GET', `/api/v1/scheduler/runs/${last_run.id}`)
    expect(run).toMatchObject({ source: 'event', topic: 'orders.paid', status: 'success' })
  })

  it('only the failing one of two subscribers is tried again', async () => {
    target.answer('/fails-once', [{ status: 500 }, { status: 200 }])
    for (const path of ['/fails-once', '/well']) {
      await belfry.call('POST', subscriptions, { topic: 'two.*', url: target.url(path), retry })
    }
    const { body: event } = await belfry.call('POST', '/api/events', { topic: 'two.go', payload: {} })
    const [first, second] = await Promise.all(event.tasks.map((task: { id: string }) => inState(task.id, 'success')))
    expect([first.attempts, second.attempts]).toEqual([2, 1])
    expect([target.requestsTo('/fails-once').length, target.requestsTo('/well').length]).toEqual([2, 1])
  })

  it('a replay of a dead task is sent as a new task', async () => {
    target.answer('/dead', [{ status: 410 }, { status: 200 }])
    const event = { topic: 'dead', payload: { n: 1 }, target_url: target.url('/dead') }
    const { body: published } = await belfry.call('POST', '/api/events', event)
    const { id } = await inState(published.tasks[0].id, 'dead')
    const { body: replay } = await belfry.call('POST', `${tasks}/${id}/replay`)
    expect(replay).toMatchObject({ replay_of: id, event_id: published.id, source: 'event' })
    await inState(replay.id, 'success')
    const sent = target.requestsTo('/dead')
    expect(sent.map(({ body }) => body.toString())).toEqual(['{"n":1}', '{"n":1}'])
    const ids = sent.map(({ rawHeaders }) => rawHeaders[rawHeaders.indexOf('webhook-id') + 1])
    expect(ids).toEqual([id, replay.id])
    expect((await inState(id, 'dead')).attempts).toBe(1)
  })

  it('a replay of 1,200 dead letters continues after kill -9 of the scheduler, and sends each once', async () => {
    const db = new pg.Client({ connectionString: belfry.databaseUrl })
    await db.connect()
    try {
      await storeDeadLetters(db, 1200)
      // Delays the second batch while it is written.
      await db.query('BEGIN')
      await db.query(`SELECT FROM tasks WHERE id = (
        SELECT id FROM tasks WHERE state = 'dead' AND settled_at IS NULL ORDER BY id OFFSET 700 LIMIT 1) FOR UPDATE`)
      const { headers } = await belfry.call('POST', `${deadLetters}/replay`, { filter: { topic: 'many' } })
      const path = headers.get('location') ?? ''
      const progress = async () => (await belfry.call('GET', path)).body
      expect(await waitFor(progress, ({ settled }) => settled > 0)).toMatchObject({ total: 1200, settled: 500 })
      await belfry.services.find(({ name }) => name === 'scheduler')?.stop('SIGKILL')
      await db.query('COMMIT')
      expect(await progress()).toMatchObject({ settled: 500, status: 'running' })
      await belfry.start('scheduler')
      expect(await waitFor(progress, ({ status }) => status === 'done')).toMatchObject({ settled: 1200 })
      await target.waitFor(() => target.requestsTo('/many').length >= 1200, 60_000)
      const { rows } = await db.query(`SELECT count(DISTINCT replay_of)::int AS "deadLetters", count(*)::int AS tasks
        FROM tasks JOIN task_requests ON task_id = id WHERE replay_of IS NOT NULL AND topic = 'many'`)
      expect(rows).toEqual([{ deadLetters: 1200, tasks: 1200 }])
      expect(target.requestsTo('/many')).toHaveLength(1200)
    } finally {
      await db.end()
    }
  }, 90_000)

  async function storeDeadLetters(db: pg.Client, count: number): Promise<void> {
    const workspace = `SELECT id FROM workspaces LIMIT 1`
    await db.query(
      `WITH stored AS (
         INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
         SELECT gen_random_uuid(), (${workspace}), 'event', 'dead', now(), now(), now() FROM generate_series(1, $1)
         RETURNING id
       )
       INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms,
                                  timeout_ms, topic)
       SELECT id, 'A', $2, 'POST', 0, 'fixed', 1000, 1000, 30000, 'many' FROM stored`,
      [count, target.url('/many')],
    )
  }
})
