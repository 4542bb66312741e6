import { setTimeout as sleep } from 'node:timers/promises'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Caller, inMs, signUp } from '../api-calls.ts'
import { startVirtualBelfry, type VirtualBelfry } from './virtual-belfry.ts'

const password = 'operators of this test'
const tasks = '/api/v1/scheduler/tasks'
const minute = 60_000
const day = 24 * 60 * minute

let belfry: VirtualBelfry
let target: Receiver
let start: number
beforeAll(async () => {
  ;[belfry, target] = await Promise.all([
    startVirtualBelfry({ OPERATOR_PASSWORD: password, LOG_LEVEL: 'info' }),
    startReceiver(),
  ])
})
afterAll(async () => {
  await belfry?.close()
  await target?.close()
})
const at = (ms: number) => new Date(start + ms).toISOString()
const received = (path: string) => target.requests.filter(request => request.path.startsWith(path)).map(r => r.path)

async function create(path: string, body: object): Promise<{ id: string; created_at: string }> {
  const task = { name: path, url: target.url(path), method: 'POST', ...body }
  const answer = await belfry.call('POST', tasks, task)
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

async function runsOf(id: string): Promise<number[]> {
  const { body } = await belfry.call('GET', `/api/v1/scheduler/runs?task_id=${id}&limit=100`)
  const runs = body.data as Array<{ started_at: string }>
  return runs.map(run => Date.parse(run.started_at) - start).reverse()
}

async function query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: belfry.databaseUrl })
  await client.connect()
  return (await client.query<Row>(text, values).finally(() => client.end())).rows
}

// Copies a task that the API has checked: to create so many takes the API seconds.
async function copyTask(path: string, count: number): Promise<void> {
  const text = `
    WITH one AS (SELECT * FROM task_requests WHERE url = $1),
      ids AS (SELECT gen_random_uuid() AS id FROM generate_series(1, $2::int)),
      copied AS (
        INSERT INTO task_requests
        SELECT copy.* FROM one, ids, jsonb_populate_record(one::task_requests, jsonb_build_object('task_id', ids.id)) copy
      )
    INSERT INTO tasks
    SELECT copy.* FROM tasks t JOIN one ON one.task_id = t.id, ids,
      jsonb_populate_record(t, jsonb_build_object('id', ids.id)) copy`
  await query(text, [target.url(path), count])
}

const stateOf = async (id: string) => (await belfry.call('GET', `${tasks}/${id}`)).body

describe('a circuit breaker', () => {
  let failing: Receiver
  let caller: Caller
  beforeAll(async () => {
    await belfry.clock('reset') // here the clock runs
    caller = await signUp(belfry.url)
    failing = await startReceiver({ otherwise: { status: 500 } })
  })
  afterAll(() => failing?.close())

  it('logs its host, workspace and duration when it opens, lets no attempt pass, and is closed by an operator', async () => {
    const executeAt = inMs(3_600_000)
    const create = async (i: number) => {
      const task = {
        name: `${i}`,
        url: failing.url(`/${i}`),
        method: 'POST',
        execute_at: executeAt,
        retry: { max_retries: 0 },
      }
      return (await belfry.call('POST', tasks, task, caller)).status
    }
    expect(await Promise.all(Array.from({ length: 80 }, (_, i) => create(i)))).toEqual(Array(80).fill(201))
    await belfry.clock('advance', { to: executeAt })
    const lines = async () =>
      belfry.output.split('\n').filter(line => line.includes('"circuit.opened"') && line.includes(`:${failing.port}`))
    const [line] = await waitFor(lines, found => found.length > 0)
    const { host, workspace, openMs } = JSON.parse(line ?? '{}')
    expect({ host, workspace }).toEqual({ host: `127.0.0.1:${failing.port}`, workspace: caller.workspaceId })
    expect(openMs).toBeGreaterThan(29_000)
    expect(openMs).toBeLessThanOrEqual(30_001)
    const inState = async (state: string) =>
      (await belfry.call('GET', `${tasks}?state=${state}&limit=100`, undefined, caller)).body.data as Array<{
        attempts: number
      }>
    const dead = await waitFor(
      () => inState('dead'),
      found => found.length >= 20,
    )
    const listWaiting = async () => [...(await inState('pending')), ...(await inState('retrying'))]
    // A claim that was in flight when the circuit breaker opened may still start an attempt.
    await waitFor(listWaiting, found => found.length === 80 - failing.requests.length)
    expect(await inState('processing')).toEqual([])
    const waiting = await listWaiting()
    expect(dead.length).toBeLessThan(80)
    expect(waiting.every(({ attempts }) => attempts === 0)).toBe(true)
    expect(failing.requests.length).toBe(80 - waiting.length)

    const authorization = `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`
    const ask = async (method: string, path: string) => {
      const response = await fetch(`${belfry.url}/admin/hosts${path}`, { method, headers: { authorization } })
      return { status: response.status, body: await response.json() }
    }
    const { workspaceId } = caller
    const listed = await waitFor(
      async () =>
        ((await ask('GET', '')).body.data as Array<{ workspace_id: string }>).filter(
          one => one.workspace_id === workspaceId,
        ),
      hosts => hosts.length > 0,
    )
    expect(listed).toMatchObject([{ host, dispatchers: 1 }])
    const called = failing.requests.length
    expect(await ask('DELETE', `/${workspaceId}/${encodeURIComponent(host)}`)).toEqual({
      status: 202,
      body: { dispatchers: 1 },
    })
    await waitFor(
      async () => belfry.output,
      output => output.includes('"circuit.reset"'),
    )
    // More than a single probe: half of twenty attempts must fail before it opens again.
    await waitFor(
      async () => failing.requests.length,
      count => count >= called + 2,
    )
  }, 120_000)
})

describe('the virtual clock', () => {
  // Each test starts where the last one ended, because its tasks belong to that time, and with no task waiting.
  beforeEach(async () => {
    await belfry.clock('freeze')
    start = await belfry.clock('run-until-idle')
  })

  it('stands still once it is frozen, for the API and for PostgreSQL', async () => {
    const first = await create('/frozen', { execute_at: at(day) })
    const [row] = await query<{ times: Date[] }>(
      'SELECT ARRAY[now(), clock_timestamp(), statement_timestamp(), transaction_timestamp()] AS times',
    )
    expect([...new Set(row?.times.map(Number))]).toEqual([start])
    expect(Date.parse(first.created_at)).toBe(start)
    expect((await belfry.call('GET', '/api/test/clock')).body).toEqual({ now: at(0), frozen: true })
  })

  it('makes all calls on the way in their order, and each at its time', async () => {
    const count = 100
    const ids = new Map<number, string>()
    for (const i of Array.from({ length: count }, (_, n) => (n * 37) % count)) {
      ids.set(i, (await create(`/month/${i}`, { execute_at: at((i * 30 * day) / count + 1_000) })).id)
    }
    expect(await belfry.clock('advance', { by_ms: 31 * day })).toBe(start + 31 * day)
    expect(received('/month')).toEqual(Array.from({ length: count }, (_, i) => `/month/${i}`))
    const [startedAt = 0, ...more] = await runsOf(ids.get(50) ?? '')
    expect([Math.floor(startedAt / minute), more]).toEqual([(15 * day) / minute, []])
  })

  it('makes more calls of one time than it reads at once, before the next one', async () => {
    const count = 1_001
    await create('/crowd', { execute_at: at(minute) })
    await create('/crowd-next', { execute_at: at(minute + 1) })
    await copyTask('/crowd', count - 1)
    await belfry.clock('advance', { by_ms: 2 * minute })
    const paths = received('/crowd')
    expect([paths.length, paths.indexOf('/crowd-next')]).toEqual([count + 1, count])
  })

  it('advances to a time, and makes no call that is due later', async () => {
    await create('/before', { execute_at: at(minute) })
    await create('/after', { execute_at: at(minute + 1) })
    expect(await belfry.clock('advance', { to: at(minute) })).toBe(start + minute)
    expect([received('/before').length, received('/after').length]).toEqual([1, 0])
  })

  it('waits for calls that began before the move, and for what follows from them', async () => {
    target.answer('/begun', { status: 200, delayMs: 1_000 })
    await create('/begun-later', { execute_at: at(day) })
    const event = { topic: 'begun', payload: {}, target_url: target.url('/begun') }
    const published = { ...event, on_success: { url: target.url('/begun-done') } }
    expect((await belfry.call('POST', '/api/v1/events', published)).body.tasks).toHaveLength(1)
    await target.waitFor(requests => requests.some(({ path }) => path === '/begun'))
    await belfry.clock('advance', { by_ms: 2 * day })
    expect(received('/begun')).toEqual(['/begun', '/begun-done', '/begun-later'])
  })

  it('does not pass a call whose task another transaction holds', async () => {
    await create('/held/1', { execute_at: at(minute) })
    await create('/held/2', { execute_at: at(2 * minute) })
    const client = new pg.Client({ connectionString: belfry.databaseUrl })
    await client.connect()
    await client.query('BEGIN')
    const text = 'SELECT FROM tasks WHERE id = (SELECT task_id FROM task_requests WHERE url = $1) FOR UPDATE'
    expect((await client.query(text, [target.url('/held/1')])).rowCount).toBe(1)
    const moving = belfry.clock('advance', { by_ms: 3 * minute })
    await sleep(3_000)
    await client.end()
    await moving
    expect(received('/held')).toEqual(['/held/1', '/held/2'])
  })

  it('repeats failed calls at the times of their backoff', async () => {
    target.answer('/failing', { status: 500 })
    const retry = { max_retries: 3, backoff: 'fixed', base_delay_ms: 3_600_000 }
    const { id } = await create('/failing', { execute_at: at(minute), retry })
    await belfry.clock('run-until-idle')
    expect(await stateOf(id)).toMatchObject({ state: 'dead', attempts: 4 })
    const runs = await runsOf(id)
    const pauses = runs.slice(1).map((time, i) => Math.round((time - (runs[i] ?? 0)) / minute))
    // The pauses of retries vary by up to a tenth.
    for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(54)
    for (const pause of pauses) expect(pause).toBeLessThanOrEqual(66)
    expect(pauses).toHaveLength(3)
  })

  it('makes the calls of cron jobs, and does not wait for future ones to be idle', async () => {
    const job = { name: 'nightly', cron: '30 3 * * *', timezone: 'UTC', url: target.url('/nightly'), method: 'POST' }
    const { status, body } = await belfry.call('POST', '/api/v1/scheduler/cronjobs', job)
    expect(status).toBe(201)
    const before = await belfry.clock('run-until-idle')
    expect(before).toBe(start)
    await belfry.clock('advance', { by_ms: 10 * day })
    expect(received('/nightly')).toHaveLength(10)
    await belfry.call('DELETE', `/api/v1/scheduler/cronjobs/${body.id}`)
  })

  it('switches off a subscription that has only failed for ten days, whose missed events can be replayed', async () => {
    target.answer('/down', { status: 500 })
    const body = { topic: 'down', url: target.url('/down'), retry: { max_retries: 0 } }
    const { id } = (await belfry.call('POST', '/api/v1/scheduler/subscriptions', body)).body
    const path = `/api/v1/scheduler/subscriptions/${id}`
    const publish = async () => {
      const { tasks } = (await belfry.call('POST', '/api/events', { topic: 'down', payload: {} })).body
      await belfry.clock('run-until-idle')
      return tasks[0].id
    }
    const missed: string[] = []
    for (let days = 0; days <= 11; days++) {
      const task = await stateOf(await publish())
      const { active, failing_since: since } = (await belfry.call('GET', path)).body
      expect([days, task.state, active, Date.parse(since) - start]).toEqual([days, 'dead', days < 10, 0])
      if (task.state_reason === 'subscription_off') missed.push(task.id)
      await belfry.clock('advance', { by_ms: day })
    }
    expect([missed.length, received('/down').length]).toEqual([1, 11])
    const labels = await query(`SELECT label FROM outbox WHERE label LIKE 'endpoint.%' ORDER BY id`)
    expect(labels).toEqual([{ label: 'endpoint.failing' }, { label: 'endpoint.switched_off' }])
    target.answer('/down', { status: 200 })
    expect((await belfry.call('PATCH', path, { active: true })).body).toMatchObject({
      active: true,
      failing_since: null,
    })
    await belfry.call('POST', '/api/v1/scheduler/dead-letters/replay', { ids: missed })
    await publish()
    expect(received('/down')).toHaveLength(13)
    await belfry.call('DELETE', path)
  })

  it('makes callbacks and the starts of a queue with a rate limit in their turn', async () => {
    const queue = { name: 'slow', rate_limit: { count: 1, period_ms: minute } }
    const ids = []
    for (const n of [1, 2, 3]) {
      const on_success = { url: target.url(`/turn/done-${n}`) }
      ids.push((await create(`/turn/${n}`, { execute_at: at(1_000 + n), queue, on_success })).id)
    }
    await belfry.clock('run-until-idle')
    expect(received('/turn')).toEqual([1, 2, 3].flatMap(n => [`/turn/${n}`, `/turn/done-${n}`]))
    const starts = (await Promise.all(ids.map(runsOf))).flat()
    expect(starts.map(ms => Math.floor(ms / minute))).toEqual([0, 1, 2])
  })

  it('ends tasks at their deadline', async () => {
    await belfry.call('PUT', '/api/v1/scheduler/queues/closed', {})
    await belfry.call('POST', '/api/v1/scheduler/queues/closed/pause')
    const { id } = await create('/expiring', { execute_at: at(minute), expires_at: at(day), queue: 'closed' })
    await belfry.clock('advance', { by_ms: 2 * day })
    const task = await stateOf(id)
    expect(task).toMatchObject({ state: 'dead', state_reason: 'expired' })
    expect(Date.parse(task.finished_at)).toBe(start + day)
  })

  it('calls a host again once its circuit breaker lets it', async () => {
    const broken = await startReceiver({ otherwise: { status: 503 } }) // a host of its own, which is blocked afterwards
    onTestFinished(() => broken.close())
    const retry = { max_retries: 1, backoff: 'fixed', base_delay_ms: minute }
    const url = broken.url('/')
    for (let n = 0; n < 30; n++) await create('/broken', { url, execute_at: at(minute), retry })
    await belfry.clock('run-until-idle')
    const { body } = await belfry.call('GET', `${tasks}?state=dead&limit=100`)
    expect(body.data.filter((task: { name: string }) => task.name === '/broken')).toHaveLength(30)
  })

  it('allows as many executions as before in the next month', async () => {
    const now = new Date(start)
    const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
    await belfry.clock('advance', { to: new Date(month).toISOString() })
    const other = await signUp(belfry.url)
    const path = `/api/v1/organizations/${other.organizationId}`
    const asOwner = { token: other.token ?? '' }
    expect((await belfry.call('PUT', `${path}/subscription`, { tier: 'free' }, asOwner)).status).toBe(200)
    for (const [name, dueAt] of Object.entries({ first: month + minute, second: month + 32 * day })) {
      const task = { name, url: target.url(`/${name}`), method: 'POST', execute_at: new Date(dueAt).toISOString() }
      for (let n = 0; n < 3; n++) expect((await belfry.call('POST', tasks, task, other)).status).toBe(201)
    }
    await belfry.clock('advance', { by_ms: day })
    const { body } = await belfry.call('GET', `${path}/usage`, undefined, asOwner)
    expect([received('/first').length, body.executions]).toEqual([2, { used: 2, limit: 2 }])
    await belfry.clock('advance', { by_ms: 32 * day })
    expect(received('/second')).toHaveLength(2)
  })

  it('starts nothing more of a deleted workspace: no due task, no retry, no cron job', async () => {
    const deleted = await signUp(belfry.url)
    target.answer('/deleted/retries', { status: 503 })
    const post = async (path: string, aheadMs: number) => {
      const retry = { max_retries: 5, backoff: 'fixed', base_delay_ms: minute }
      const task = { name: path, url: target.url(path), method: 'POST', execute_at: at(aheadMs), retry }
      expect((await belfry.call('POST', tasks, task, deleted)).status).toBe(201)
    }
    await post('/deleted/retries', 1_000)
    for (let n = 0; n < 20; n++) await post('/deleted/soon', minute)
    const job = { name: 'Each minute', cron: '* * * * *', url: target.url('/deleted/cron'), method: 'POST' }
    expect((await belfry.call('POST', '/api/v1/scheduler/cronjobs', job, deleted)).status).toBe(201)
    await belfry.clock('advance', { by_ms: 1_000 })
    const before = received('/deleted')
    expect(before).toContain('/deleted/retries')
    const session = { token: deleted.token ?? '' }
    const { status } = await belfry.call('DELETE', `/api/v1/workspaces/${deleted.workspaceId}`, undefined, session)
    expect(status).toBe(204)
    await belfry.clock('advance', { by_ms: 10 * minute })
    expect(received('/deleted')).toEqual(before)
    // The scheduler purges a workspace within a minute of real time, so the cancelled tasks may be gone.
    const others = await query(
      `SELECT state, state_reason FROM tasks t JOIN task_requests r ON r.task_id = t.id
       WHERE r.url = ANY ($1) AND (state, state_reason) IS DISTINCT FROM ('cancelled'::task_state, 'workspace_deleted')`,
      [[target.url('/deleted/soon'), target.url('/deleted/retries')]],
    )
    expect(others).toEqual([])
    expect(await query('SELECT id FROM cron_jobs WHERE url = $1', [target.url('/deleted/cron')])).toEqual([])
  })

  it('signs with a new secret too once five seconds have passed, for which dispatchers cache secrets', async () => {
    const signaturesOf = (path: string) => {
      const headers = target.requestsTo(path)[0]?.rawHeaders ?? []
      return headers[headers.indexOf('webhook-signature') + 1]?.split(' ').length
    }
    await create('/signed/before', { execute_at: at(1_000) })
    await belfry.clock('advance', { by_ms: 1_000 })
    expect((await belfry.call('POST', `/api/v1/workspaces/${belfry.caller.workspaceId}/signing-secrets`)).status).toBe(
      201,
    )
    await create('/signed/after', { execute_at: at(7_000) })
    await belfry.clock('advance', { by_ms: 6_000 })
    expect([signaturesOf('/signed/before'), signaturesOf('/signed/after')]).toEqual([1, 2])
  })

  it('ends sessions and API keys', async () => {
    const other = await signUp(belfry.url)
    const keys = `/api/v1/workspaces/${other.workspaceId}/api-keys`
    const key = await belfry.call('POST', keys, { name: 'Short', expires_at: at(day) }, { token: other.token ?? '' })
    const withKey = () => belfry.call('GET', tasks, undefined, { apiKey: key.body.key })
    const withSession = () => belfry.call('GET', '/api/v1/auth/me', undefined, { token: other.token ?? '' })
    expect([(await withKey()).status, (await withSession()).status]).toEqual([200, 200])
    await belfry.clock('advance', { by_ms: 2 * day })
    expect([(await withKey()).status, (await withSession()).status]).toEqual([401, 200])
    await belfry.clock('advance', { by_ms: 30 * day })
    expect((await withSession()).status).toBe(401)
  })

  it('runs on after an advance when it was not frozen, and returns to the time of the machine', async () => {
    const reset = await belfry.clock('reset')
    expect(Math.abs(reset - Date.now())).toBeLessThan(60_000)
    const later = await belfry.clock('advance', { by_ms: day })
    expect(later).toBeGreaterThanOrEqual(reset + day)
    expect((await belfry.call('GET', '/api/test/clock')).body).toMatchObject({ frozen: false })
    await belfry.clock('reset')
  })

  it('refuses a move that it cannot make', async () => {
    for (const body of [{}, { by_ms: -1 }, { by_ms: 1.5 }, { to: 'soon' }, { by_ms: 1, to: at(1) }]) {
      const answer = await belfry.call('POST', '/api/test/clock/advance', body)
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed'])
    }
  })
})
