import { fromId, newUuid, toId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { aTaskBody, type Caller, type Json, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'
const deadLetters = '/api/v1/scheduler/dead-letters'

type State = 'dead' | 'success' | 'cancelled' | 'processing' | 'retrying' | 'pending'

/** A caller with its own workspace, and tasks of a state in it. */
async function aCaller() {
  const caller: Caller = await api.signUp()
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.send(method, path, body, { 'X-Api-Key': caller.apiKey, ...headers })
  async function store(state: State, count = 1, more: { cronJobId?: string; topic?: string } = {}): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newUuid())
    const isFinished = ['dead', 'success', 'cancelled'].includes(state)
    await api.db.query(
      `INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, cron_job_id, finished_at, lease_until)
       SELECT id, $2, 'task', $3::task_state, 1, now() - interval '1 hour', now(), $4, CASE WHEN $5 THEN now() END,
              CASE WHEN $3 = 'processing' THEN now() + interval '1 hour' END
       FROM unnest($1::uuid[]) AS id`,
      [ids, fromId('ws', caller.workspaceId), state, more.cronJobId ?? null, isFinished],
    )
    await api.db.query(
      `INSERT INTO task_requests (task_id, name, url, method, headers, payload, max_retries, backoff, base_delay_ms,
                                  max_delay_ms, timeout_ms, topic)
       SELECT id, 'A task', 'https://example.com/', 'PUT', '{"A":"b"}', '{"n":1.10}', 3, 'linear', 2000, 3000, 4000, $2
       FROM unnest($1::uuid[]) AS id`,
      [ids, more.topic ?? null],
    )
    return ids.map(id => toId('task', id))
  }
  const listed = async (): Promise<string[]> =>
    (await call('GET', `${deadLetters}?limit=100`)).body.data.map((task: Json) => task.id)
  const replaysOf = async (id: string): Promise<Json[]> =>
    (await call('GET', `${tasks}?limit=100`)).body.data.filter((task: Json) => task.replay_of === id)
  /** The entries of dead letters in the audit log, without those of other actions. */
  const audited = async (): Promise<Json[]> => {
    const path = `/api/v1/organizations/${caller.organizationId}/audit-log`
    const { data } = (await api.send('GET', path, undefined, { Authorization: `Bearer ${caller.token}` })).body
    return data.filter(({ action }: Json) => action.startsWith('dead_letter.'))
  }
  return { call, store, listed, replaysOf, audited }
}

describe('works', () => {
  it.each(['dead', 'success', 'cancelled'] as const)('replays a %s task as a new one', async state => {
    const { call, store } = await aCaller()
    const [id] = await store(state)
    const { body: old } = await call('GET', `${tasks}/${id}`)
    const replayed = await call('POST', `${tasks}/${id}/replay`)
    expect(replayed.status).toBe(201)
    expect(replayed.headers.get('location')).toBe(`${tasks}/${replayed.body.id}`)
    expect(replayed.text).toContain('"payload":{"n":1.10}')
    const { id: newId, execute_at, created_at, updated_at, ...fresh } = replayed.body
    expect(newId).not.toBe(id)
    expect(execute_at > old.execute_at).toBe(true)
    const same = {
      ...old,
      state: 'pending',
      attempts: 0,
      replay_of: id,
      finished_at: null,
      created_by: fresh.created_by,
    }
    expect({ ...fresh, id, execute_at, created_at, updated_at }).toEqual({
      ...same,
      execute_at,
      created_at,
      updated_at,
    })
    expect((await call('GET', `${tasks}/${id}`)).body).toEqual(old)
    const again = await call('POST', `${tasks}/${id}/replay`)
    expect([again.status, again.body.id === newId]).toEqual([201, false])
  })

  it('replays a task once for one Idempotency-Key', async () => {
    const { call, store, replaysOf } = await aCaller()
    const [id = ''] = await store('dead')
    const replay = () => call('POST', `${tasks}/${id}/replay`, undefined, { 'Idempotency-Key': 'again' })
    const [first, second] = [await replay(), await replay()]
    expect([second.text, second.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
    expect(await replaysOf(id)).toHaveLength(1)
  })

  it('replays a task with changes, which settles the dead letter', async () => {
    const { call, store, listed } = await aCaller()
    const [id = ''] = await store('dead')
    const replay = (body: Json) => call('POST', `${tasks}/${id}/replay`, body)
    const later = new Date(Date.now() + 3_600_000).toISOString()
    for (const wrong of [
      { url: 'ftp://x' },
      { execute_at: '2020-01-01T00:00:00Z' },
      { key: 'k' },
      { expires_at: '2020-01-01T00:00:00Z' },
    ])
      expect((await replay(wrong)).status).toBe(400)
    expect(await listed()).toEqual([id])
    const changes = { payload: { n: 2 }, labels: ['fixed:1'], execute_at: later }
    const { status, body } = await replay(changes)
    expect([status, body]).toMatchObject([
      201,
      { ...changes, url: 'https://example.com/', replay_of: id, state: 'pending' },
    ])
    expect(await listed()).toEqual([])
    expect((await call('GET', `${tasks}?label=fixed:1`)).body.data).toMatchObject([{ id: body.id }])
  })

  it('lists those of some topics, page by page', async () => {
    const { call, store } = await aCaller()
    const paid = await store('dead', 3, { topic: 'orders.paid' })
    const [sent = ''] = await store('dead', 1, { topic: 'orders.sent' })
    await store('dead', 2)
    await store('success', 1, { topic: 'orders.paid' })
    const read = async (query: string) => (await call('GET', `${deadLetters}?${query}`)).body
    const idsOf = ({ data }: Json) => data.map(({ id }: Json) => id)
    const newest = [...paid].reverse()
    expect(idsOf(await read('topic=orders.paid'))).toEqual(newest)
    expect(idsOf(await read('topic=orders.paid&topic=orders.sent'))).toEqual([sent, ...newest])
    expect(idsOf(await read('topic=orders'))).toEqual([])
    const first = await read('topic=orders.paid&limit=2')
    const rest = await read(`topic=orders.paid&limit=2&cursor=${first.next_cursor}`)
    expect([...idsOf(first), ...idsOf(rest)]).toEqual(newest)
    expect((await read('topic=orders..paid')).errors[0].path).toBe('topic')
    await call('POST', `${deadLetters}/discard`, { filter: { topic: 'orders.paid' } })
    expect(idsOf(await read('topic=orders.paid'))).toEqual([])
  })

  it('lists and settles those of a name, hosts, errors and statuses', async () => {
    const { call, store, listed } = await aCaller()
    const change = async (id: string | undefined, name: string, url: string, errors: string[]) => {
      const uuid = fromId('task', id ?? '')
      await api.db.query('UPDATE task_requests SET name = $2, url = $3 WHERE task_id = $1', [uuid, name, url])
      for (const [at, error] of errors.entries())
        await api.db.query(
          `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, error_code)
           SELECT $2, workspace_id, id, $3, 'task', 'failed', now(), now(), now(), $4 FROM tasks WHERE id = $1`,
          [uuid, newUuid(), at + 1, error],
        )
    }
    const [a, b, c, d] = await store('dead', 4)
    await change(a, 'Invoice 1', 'https://One.example.com/a?b#c', ['timeout'])
    await change(b, 'Invoice 2', 'http://two.example.com:8080', ['timeout', 'dns'])
    await change(c, 'Order 3', 'https://one.example.com:8443/', ['timeout'])
    await change(d, 'Invoice 4', 'https://two.example.com/', [])
    const idsOf = async (query: string) =>
      (await call('GET', `${deadLetters}?${query}`)).body.data.map(({ id }: Json) => id)
    expect(await idsOf('host=ONE.example.com')).toEqual([a])
    expect(await idsOf('host=one.example.com&host=two.example.com:8080')).toEqual([b, a])
    expect(await idsOf('error=timeout')).toEqual([c, a])
    expect(await idsOf('error=timeout&error=dns&name=Invoice')).toEqual([b, a])
    await api.db.query(
      `INSERT INTO task_labels (workspace_id, label, task_id) SELECT workspace_id, 'red', id FROM tasks WHERE id = $1`,
      [fromId('task', c ?? '')],
    )
    expect(await idsOf('label=red&label=blue&error=timeout')).toEqual([c])
    // Of the last run: the first one of b had another status.
    for (const [id, attempt, status] of [
      [a, 1, 503],
      [b, 1, 503],
      [b, 2, 404],
      [c, 1, 500],
    ] as const)
      await api.db.query('UPDATE runs SET response_status = $3 WHERE task_id = $1 AND attempt = $2', [
        fromId('task', id ?? ''),
        attempt,
        status,
      ])
    expect(await idsOf('response_status=5XX')).toEqual([c, a])
    expect(await idsOf('response_status=503&response_status=404')).toEqual([b, a])
    expect((await call('GET', `${deadLetters}?response_status=50`)).body.errors[0].path).toBe('response_status')
    const first = (await call('GET', `${deadLetters}?error=timeout&limit=1`)).body
    expect(await idsOf(`error=timeout&limit=1&cursor=${first.next_cursor}`)).toEqual([a])
    expect((await call('GET', `${deadLetters}?error=timeouts`)).body.errors[0].path).toBe('error')
    const wrong = await call('POST', `${deadLetters}/replay`, { filter: { error: ['timeout', 'nope'] } })
    expect(wrong.body.errors[0].path).toBe('filter.error')

    const settle = async (action: string, filter: object) =>
      (await call('POST', `${deadLetters}/${action}`, { filter })).body
    expect(
      await settle('replay', { host: 'One.example.com', error: ['timeout'], response_status: '503' }),
    ).toMatchObject({
      replayed: 1,
    })
    expect(await listed()).toEqual([d, c, b])
    expect(await settle('discard', { name: 'Invoice' })).toMatchObject({ discarded: 2 })
    expect(await listed()).toEqual([c])
  })

  it('runs a filter by host and error in the background, as one operation', async () => {
    const { call, store } = await aCaller()
    await store('dead', 1_001)
    const filter = { host: ['EXAMPLE.com'], name: 'A' }
    const { status, body } = await call('POST', `${deadLetters}/replay`, { filter })
    expect([status, body.replayed]).toEqual([202, 0])
    expect(body.operation.per_second).toBeNull()
    const paced = await call('POST', `${deadLetters}/replay`, { filter, per_second: 5 })
    expect([paced.status, paced.body.code]).toEqual([409, 'conflict'])
    const all = { cronjob_id: null, topic: null, label: null, from: null, to: null, error: null, response_status: null }
    expect(body.operation).toMatchObject({ total: 1_001, filter: { ...all, host: ['example.com'], name: 'A' } })
    expect((await call('POST', `${deadLetters}/replay`, { filter })).body.operation.id).toBe(body.operation.id)
    const other = await call('POST', `${deadLetters}/replay`, { filter: { host: 'example.com' } })
    expect([other.status, other.body.code]).toEqual([409, 'conflict'])
  })

  it('replays so many per second, and refuses a rate that is out of range', async () => {
    const { call, store, replaysOf } = await aCaller()
    const ids = await store('dead', 5)
    const refused = (per_second: unknown, action = 'replay') =>
      call('POST', `${deadLetters}/${action}`, { filter: {}, per_second })
    for (const rate of [0, 1_001, 2.5, '10'])
      expect((await refused(rate)).body.errors).toMatchObject([{ path: 'per_second' }])
    expect((await refused(10, 'discard')).body.errors).toMatchObject([{ path: 'per_second', code: 'unknown_field' }])
    const began = Date.now()
    expect((await call('POST', `${deadLetters}/replay`, { ids, per_second: 2 })).body).toMatchObject({ replayed: 5 })
    const times: number[] = []
    for (const id of ids) times.push(Date.parse((await replaysOf(id))[0].execute_at))
    expect(times[0]).toBeLessThan(began + 5_000)
    expect(times.map(time => time - (times[0] ?? 0))).toEqual([0, 500, 1_000, 1_500, 2_000])
  })

  it('removes a dead letter from the list when its task is replayed', async () => {
    const { call, store, listed } = await aCaller()
    const [first, second] = await store('dead', 2)
    await call('POST', `${tasks}/${first}/replay`)
    expect(await listed()).toEqual([second])
    const { body } = await call('GET', `${tasks}?state=dead`)
    expect(body.data).toHaveLength(2)
  })

  it('replays dead letters by id, each once, also for repeated and concurrent requests', async () => {
    const { call, store, listed, replaysOf } = await aCaller()
    const letters = await store('dead', 3)
    const [alive = ''] = await store('success')
    const ids = [...letters.slice(0, 2), alive, letters[0], `task_${'0'.repeat(26)}`]
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', `${deadLetters}/replay`, { ids })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(answers.map(({ body }) => body.replayed).sort()).toEqual([0, 0, 2])
    for (const id of letters.slice(0, 2)) expect(await replaysOf(id)).toMatchObject([{ state: 'pending' }])
    expect(await replaysOf(alive)).toEqual([])
    expect(await listed()).toEqual([letters[2]])
  })

  it('records replays and discards in the audit log: how many, by which filter, and the operation', async () => {
    const { call, store, audited } = await aCaller()
    const [first, second] = await store('dead', 2)
    await store('dead', 1, { topic: 'orders.paid' })
    await call('POST', `${deadLetters}/replay`, { ids: [first] })
    await call('POST', `${deadLetters}/discard`, { ids: [second] })
    await call('POST', `${deadLetters}/discard`, { ids: [second] })
    await call('POST', `${deadLetters}/discard`, { filter: { topic: 'orders.paid' } })
    const { id } = (await call('POST', '/api/v1/scheduler/bulk-operations', { action: 'discard', filter: {} })).body
    const entries = (await audited()).reverse()
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['dead_letter.replayed', { count: 1 }],
      ['dead_letter.discarded', { count: 1 }],
      ['dead_letter.discarded', { count: 1, filter: { topic: ['orders.paid'] } }],
      ['dead_letter.discarded', { operation: id, count: 0 }],
    ])
    expect(entries[0].actor.api_key_id).toMatch(/^key_/)
  })

  it('discards dead letters: they leave the list, and their tasks stay dead', async () => {
    const { call, store, listed } = await aCaller()
    const [first, second] = await store('dead', 2)
    const discarded = await call('POST', `${deadLetters}/discard`, { ids: [first] })
    expect([discarded.status, discarded.body]).toEqual([200, { discarded: 1, operation: null }])
    expect(await listed()).toEqual([second])
    expect((await call('GET', `${tasks}/${first}`)).body.state).toBe('dead')
    expect((await call('POST', `${deadLetters}/replay`, { ids: [first] })).body.replayed).toBe(0)
    expect((await call('POST', `${tasks}/${first}/replay`)).status).toBe(201)
  })

  it.each([
    ['everything', {}, 8],
    ['a topic', { topic: 'a.b' }, 2],
    ['a cron job', { cronjob_id: toId('cron', newUuid()) }, 3],
    ['a time that was', { from: '2020-01-01T00:00:00Z', to: '2098-01-01T00:00:00Z' }, 8],
    ['a time to come', { from: '2098-01-01T00:00:00Z' }, 0],
    ['both', { topic: 'a.b', to: '2020-01-01T00:00:00Z' }, 0],
  ])('settles by a filter: %s', async (_what, filter: Record<string, string>, count) => {
    const { call, store, listed } = await aCaller()
    await store('dead', 2, { topic: 'a.b' })
    await store('dead', 3, { topic: 'a', cronJobId: fromId('cron', filter.cronjob_id ?? '') ?? newUuid() })
    await store('dead', 3)
    await store('success', 1, { topic: 'a.b' })
    const shown = await call('GET', `${deadLetters}?${new URLSearchParams({ ...filter, limit: '100' })}`)
    expect(shown.body.data).toHaveLength(count)
    const answer = await call('POST', `${deadLetters}/discard`, { filter })
    expect(answer.body).toEqual({ discarded: count, operation: null })
    expect(await listed()).toHaveLength(8 - count)
    expect((await call('POST', `${deadLetters}/discard`, { filter })).body.discarded).toBe(0)
  })

  it('replays 1,000 at once, and more in the background, with progress, one operation at a time', async () => {
    const { call, store } = await aCaller()
    await store('dead', 1000, { topic: 'a' })
    const { body } = await call('POST', `${deadLetters}/replay`, { filter: { topic: 'a' } })
    expect(body).toEqual({ replayed: 1000, operation: null })
    await store('dead', 1001, { topic: 'a' })
    const accepted = await call('POST', `${deadLetters}/replay`, { filter: { topic: 'a' } })
    expect(accepted.status).toBe(202)
    const { operation } = accepted.body
    expect(operation).toMatchObject({ action: 'replay', status: 'running', total: 1001, settled: 0, finished_at: null })
    const same = { from: null, to: null, name: null, host: null, error: null, response_status: null }
    const others = { label: null, cronjob_id: null, ...same }
    expect(operation.filter).toEqual({ topic: 'a', ...others })
    const path = accepted.headers.get('location') ?? ''
    expect(path).toBe(`${deadLetters}/operations/${operation.id}`)
    expect((await call('GET', path)).body).toEqual(operation)
    const repeated = await call('POST', `${deadLetters}/replay`, { filter: { topic: 'a' } })
    expect([repeated.status, repeated.body.operation]).toEqual([202, operation])
    const other = await call('POST', `${deadLetters}/discard`, { filter: {} })
    expect([other.status, other.body.code]).toEqual([409, 'conflict'])
    const cancelled = await call('DELETE', path)
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
    const twice = await call('DELETE', path)
    expect([twice.status, twice.body.code]).toEqual([409, 'conflict'])
    expect((await call('POST', `${deadLetters}/discard`, { filter: {} })).status).toBe(202)
  })
})

describe('refuses', () => {
  it.each(['pending', 'processing', 'retrying'] as const)('to replay a %s task', async state => {
    const { call, store, replaysOf } = await aCaller()
    const [id = ''] = await store(state)
    const { status, body } = await call('POST', `${tasks}/${id}/replay`)
    expect([status, body.code, body.current_state]).toEqual([409, 'task_not_finished', state])
    expect(await replaysOf(id)).toEqual([])
  })

  it.each([
    ['neither ids nor a filter', {}, ''],
    ['both', { ids: [`task_${'0'.repeat(26)}`], filter: {} }, ''],
    ['no ids', { ids: [] }, 'ids'],
    ['101 ids', { ids: Array(101).fill(`task_${'0'.repeat(26)}`) }, 'ids'],
    ['an id of another kind', { ids: [`run_${'0'.repeat(26)}`] }, 'ids.0'],
    ['an unknown filter', { filter: { state: 'dead' } }, 'filter.state'],
    ['a pattern of topics', { filter: { topic: 'a.*' } }, 'filter.topic'],
  ])('%s', async (_what, body, path) => {
    const { call, store, listed } = await aCaller()
    await store('dead')
    for (const action of ['replay', 'discard']) {
      const answer = await call('POST', `${deadLetters}/${action}`, body)
      expect([answer.status, answer.body.errors?.[0].path]).toEqual([400, path])
    }
    expect(await listed()).toHaveLength(1)
  })
})

describe('permits', () => {
  it('no other workspace', async () => {
    const [mine, other] = [await aCaller(), await aCaller()]
    const [id = ''] = await mine.store('dead')
    expect((await other.call('POST', `${tasks}/${id}/replay`)).status).toBe(404)
    for (const body of [{ ids: [id] }, { filter: {} }]) {
      expect((await other.call('POST', `${deadLetters}/replay`, body)).body.replayed).toBe(0)
      expect((await other.call('POST', `${deadLetters}/discard`, body)).body.discarded).toBe(0)
    }
    expect(await mine.listed()).toEqual([id])
    await mine.store('dead', 1001)
    const { headers } = await mine.call('POST', `${deadLetters}/replay`, { filter: {} })
    for (const method of ['GET', 'DELETE']) {
      expect((await other.call(method, headers.get('location') ?? '')).status).toBe(404)
    }
    expect((await mine.call('GET', headers.get('location') ?? '')).body.status).toBe('running')
  })

  it('no request without a key', async () => {
    const { body } = await api.call('POST', tasks, aTaskBody())
    for (const path of [`${tasks}/${body.id}/replay`, `${deadLetters}/replay`, `${deadLetters}/discard`]) {
      expect((await api.send('POST', path, {})).status).toBe(401)
    }
  })
})
