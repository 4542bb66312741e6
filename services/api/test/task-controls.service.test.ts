import { randomUUID } from 'node:crypto'
import { stepBulkOperation } from '@belfry/db/bulk-operations/step-bulk-operation'
import { enterDispatchers } from '@belfry/db/dispatchers/heartbeat'
import { undoClaims } from '@belfry/db/tasks/undo-claims'
import { claimTasks } from '@belfry/db/test/claim-tasks'
import { fromId, newUuid } from '@belfry/domain/id'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { aTaskBody, type Caller, type Json, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'

let caller: Caller
beforeEach(async () => {
  caller = await api.signUp()
})

const call = (method: string, path: string, body?: unknown) =>
  api.send(method, path, body, { 'X-Api-Key': caller.apiKey })
const at = (ms: number) => new Date(Date.now() + ms).toISOString()
const create = async (changes: Record<string, unknown>) => (await call('POST', tasks, aTaskBody(changes))).body
const list = async (query: string) => (await call('GET', `${tasks}?${query}`)).body.data.map(({ name }: Json) => name)
const makeRetrying = (id: string) =>
  api.db.query(`UPDATE tasks SET state = 'retrying', attempts = 1, due_at = now() + interval '1 hour' WHERE id = $1`, [
    fromId('task', id),
  ])

describe('a deadline', () => {
  it('is stored, changed and removed', async () => {
    const task = await create({ execute_at: at(60_000), expires_at: at(120_000) })
    expect(task.expires_at).toBe((await call('GET', `${tasks}/${task.id}`)).body.expires_at)
    const later = await call('PATCH', `${tasks}/${task.id}`, { expires_at: at(180_000) })
    expect(later.status).toBe(200)
    expect(later.body.expires_at > task.expires_at).toBe(true)
    expect((await call('PATCH', `${tasks}/${task.id}`, { expires_at: null })).body.expires_at).toBeNull()
  })

  it('must be later than the time, of a new task and after a change', async () => {
    const [time, same] = [at(60_000), at(120_000)]
    const refused = await call('POST', tasks, aTaskBody({ execute_at: same, expires_at: same }))
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [expect.objectContaining({ path: 'expires_at', code: 'expires_at_not_after_execute_at' })],
    ])
    const task = await create({ execute_at: time, expires_at: same })
    for (const change of [{ execute_at: same }, { expires_at: time }]) {
      const { status, body } = await call('PATCH', `${tasks}/${task.id}`, change)
      expect([status, body.errors?.[0].code]).toEqual([400, 'expires_at_not_after_execute_at'])
    }
    expect((await call('PATCH', `${tasks}/${task.id}`, { execute_at: at(-60_000) })).body.errors[0].code).toBe(
      'execute_at_not_future',
    )
  })

  it('comes from max_age_ms for events, subscriptions and cron jobs; the earlier one of an event and its subscription', async () => {
    const event = { topic: 'age.one', payload: {}, target_url: 'https://example.com/hook', max_age_ms: 60_000 }
    const { body } = await call('POST', '/api/events', event)
    expect(Date.parse(body.tasks[0].expires_at) - Date.parse(body.tasks[0].execute_at)).toBe(60_000)
    const subscription = { topic: 'age.two', url: 'https://example.com/hook', max_age_ms: 5_000, labels: ['own'] }
    expect((await call('POST', '/api/v1/scheduler/subscriptions', subscription)).body).toMatchObject({
      ...{ max_age_ms: 5_000, labels: ['own'] },
    })
    const second = await call('POST', '/api/events', {
      topic: 'age.two',
      payload: {},
      max_age_ms: 9_000,
      labels: ['e'],
    })
    const [task] = second.body.tasks
    expect(Date.parse(task.expires_at) - Date.parse(task.execute_at)).toBe(5_000)
    expect((await call('GET', `${tasks}/${task.id}`)).body).toMatchObject({
      labels: ['own', 'e'],
      expires_at: task.expires_at,
    })
  })

  it('of a cron job is that of its occurrences, and changes with it', async () => {
    const job = { name: 'Each minute', cron: '* * * * *', url: 'https://example.com/hook', method: 'POST' }
    const { body } = await call('POST', '/api/v1/scheduler/cronjobs', {
      ...job,
      max_age_ms: 30_000,
      labels: ['a', 'b'],
    })
    expect(body).toMatchObject({ max_age_ms: 30_000, labels: ['a', 'b'] })
    const occurrences = async () => (await call('GET', `${tasks}?cronjob_id=${body.id}`)).body.data
    const ages = (found: Json[]) =>
      new Set(found.map(task => Date.parse(task.expires_at) - Date.parse(task.execute_at)))
    expect(ages(await occurrences())).toEqual(new Set([30_000]))
    await call('PATCH', `/api/v1/scheduler/cronjobs/${body.id}`, { max_age_ms: 10_000, labels: ['b', 'c'] })
    const changed = await occurrences()
    expect([ages(changed), changed[0].labels]).toEqual([new Set([10_000]), ['b', 'c']])
    expect((await list(`label=c&cronjob_id=${body.id}`)).length).toBe(changed.length)
    expect(await list('label=a')).toEqual([])
    expect((await list('label=c')).length).toBe(changed.length)
    const jobs = await call('GET', '/api/v1/scheduler/cronjobs?label=c')
    expect(jobs.body.data.map(({ id }: Json) => id)).toEqual([body.id])
    const triggered = (await call('POST', `/api/v1/scheduler/cronjobs/${body.id}/trigger`)).body
    expect(Date.parse(triggered.expires_at) - Date.parse(triggered.execute_at)).toBe(10_000)
    expect(triggered.labels).toEqual(['b', 'c'])
  })

  it('of a replay is as long after its start as that of the original', async () => {
    const task = await create({ execute_at: at(60_000), expires_at: at(90_000), labels: ['replayed'], key: 'replay' })
    await call('DELETE', `${tasks}/${task.id}`)
    const { body } = await call('POST', `${tasks}/${task.id}/replay`)
    const span = ({ expires_at, execute_at }: Json) => Date.parse(expires_at) - Date.parse(execute_at)
    expect([span(body), body.labels, body.key]).toEqual([span(task), ['replayed'], null])
    expect(await list('label=replayed')).toHaveLength(2)
  })
})

describe('a key', () => {
  it('refuses, keeps or replaces', async () => {
    const first = await call('POST', tasks, aTaskBody({ key: 'k1', payload: { n: 1 }, labels: ['x'] }))
    expect([first.status, first.body.key]).toEqual([201, 'k1'])
    const refused = await call('POST', tasks, aTaskBody({ key: 'k1' }))
    expect([refused.status, refused.body.code, refused.body.task_id]).toEqual([409, 'key_in_use', first.body.id])
    const kept = await call('POST', tasks, aTaskBody({ key: 'k1', on_conflict: 'keep', payload: { n: 2 } }))
    expect([kept.status, kept.body.id, kept.body.payload]).toEqual([200, first.body.id, { n: 1 }])
    const body = aTaskBody({
      key: 'k1',
      on_conflict: 'replace',
      payload: { n: 3 },
      execute_at: at(90_000),
      headers: { 'X-N': '3' },
    })
    const replaced = await call('POST', tasks, body)
    expect([replaced.status, replaced.body]).toEqual([
      200,
      expect.objectContaining({
        id: first.body.id,
        payload: { n: 3 },
        labels: [],
        execute_at: body.execute_at,
        headers: { 'X-N': '3' },
      }),
    ])
    expect(replaced.body.updated_by).toBe(first.body.created_by)
    expect((await call('GET', `${tasks}/${first.body.id}`)).body).toEqual(replaced.body)
  })

  it('has one pending task after 20 parallel creates', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        call('POST', tasks, aTaskBody({ key: 'k2', on_conflict: 'replace', payload: n })),
      ),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    expect([statuses.filter(status => status === 201).length, new Set(statuses)]).toEqual([1, new Set([200, 201])])
    const found = await api.db.query(`SELECT FROM tasks WHERE workspace_id = $1 AND key = 'k2' AND state = 'pending'`, [
      fromId('ws', caller.workspaceId),
    ])
    expect(found.rowCount).toBe(1)
  })

  it('is free again when an attempt has started', async () => {
    const task = await create({ key: 'k3' })
    await api.db.query(`UPDATE tasks SET due_at = now() - interval '1 ms' WHERE id = $1`, [fromId('task', task.id)])
    const request = { taskId: fromId('task', task.id) ?? '', token: newUuid() }
    expect((await claimTasks(api.db, { dispatcherId: newUuid() }, [request]))[0]?.kind).toBe('claimed')
    expect((await call('POST', tasks, aTaskBody({ key: 'k3', on_conflict: 'replace' }))).status).toBe(201)
  })

  it('works in a batch, where each row has its own result', async () => {
    const rows = [
      { key: 'k4', payload: 1 },
      { key: 'k4' },
      { key: 'k4', on_conflict: 'replace', payload: 3 },
      {},
      { key: 'k4', on_conflict: 'keep' },
      { on_conflict: 'keep' },
    ]
    const { body } = await call('POST', `${tasks}/batch`, { tasks: rows.map(row => aTaskBody(row)) })
    const results = body.data.map(({ task, error }: Json) => error?.code ?? [task.key, task.payload])
    expect(results).toEqual([['k4', 1], 'key_in_use', ['k4', 3], [null, null], ['k4', 3], 'validation_failed'])
    expect(new Set([0, 2, 4].map(i => body.data[i].task.id)).size).toBe(1)
  })

  it('works together with an Idempotency-Key', async () => {
    const headers = { 'X-Api-Key': caller.apiKey, 'Idempotency-Key': 'keyed' }
    const body = aTaskBody({ key: 'k5', on_conflict: 'replace', execute_at: at(60_000) })
    const first = await api.send('POST', tasks, body, headers)
    const second = await api.send('POST', tasks, body, headers)
    expect([first.status, second.text, second.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
  })

  it.each([
    [{ key: '' }, 'too_short'],
    [{ key: 'k'.repeat(129) }, 'too_long'],
    [{ key: 'k', on_conflict: 'ignore' }, 'invalid_value'],
    [{ on_conflict: 'keep' }, 'required'],
  ])('refuses %j', async (changes, code) => {
    const { status, body } = await call('POST', tasks, aTaskBody(changes))
    expect([status, body.errors[0].code]).toEqual([400, code])
  })
})

describe('a time that has passed, with on_past: run', () => {
  const past = { execute_at: '2020-01-01T00:00:00Z', on_past: 'run' }
  const isDueNow = (task: Json) => Math.abs(Date.parse(task.execute_at) - Date.now()) < 60_000

  it('makes a task due at once, alone and in a batch; a time in the future stays', async () => {
    const { status, body } = await call('POST', tasks, aTaskBody(past))
    expect([status, isDueNow(body), body.state]).toEqual([201, true, 'pending'])
    const future = at(3_600_000)
    const rows = [past, { ...past, execute_at: future }, { ...past, on_past: 'reject' }, { ...past, name: '' }]
    const { data } = (await call('POST', `${tasks}/batch`, { tasks: rows.map(row => aTaskBody(row)) })).body
    expect(isDueNow(data[0].task)).toBe(true)
    expect(data[1].task.execute_at).toBe(future)
    expect(data.slice(2).map(({ error }: Json) => error.errors.map(({ code }: Json) => code))).toEqual([
      ['execute_at_not_future'],
      ['too_short'],
    ])
  })

  it('makes a task due at once whose time passes while it waits for the database', async () => {
    const first = await create({ key: 'held', execute_at: at(3_600_000) })
    const holder = await api.db.connect()
    onTestFinished(() => holder.release(true)) // unlocks in any case
    await holder.query('BEGIN; LOCK TABLE tasks IN SHARE MODE')
    const soon = { execute_at: at(3_000), on_past: 'run' }
    const rows = [soon, { ...soon, key: 'new' }, {}].map(row => aTaskBody(row))
    const once = { 'X-Api-Key': caller.apiKey, 'Idempotency-Key': 'passes' }
    const answers = Promise.all([
      call('POST', tasks, aTaskBody(soon)),
      api.send('POST', tasks, aTaskBody(soon), once),
      call('POST', tasks, aTaskBody({ ...soon, key: 'held', on_conflict: 'replace' })),
      call('POST', `${tasks}/batch`, { tasks: rows }),
    ])
    await new Promise(resolve => setTimeout(resolve, Date.parse(soon.execute_at) - Date.now() + 100))
    await holder.query('COMMIT')
    const [alone, keyed, replaced, batch] = await answers
    expect([alone.status, keyed.status, replaced.status, replaced.body.id]).toEqual([201, 201, 200, first.id])
    const [plain, unique, later] = batch.body.data.map(({ task }: Json) => task)
    expect(later.execute_at).toBe(rows[2]?.execute_at)
    for (const task of [alone.body, keyed.body, replaced.body, plain, unique]) {
      expect([task.execute_at === soon.execute_at, isDueNow(task)]).toEqual([false, true])
      expect((await call('GET', `${tasks}/${task.id}`)).body.execute_at).toBe(task.execute_at)
    }
  })

  it('makes the pending task with its key due at once, if it replaces it', async () => {
    const first = await create({ key: 'past', execute_at: at(3_600_000) })
    const { status, body } = await call('POST', tasks, aTaskBody({ ...past, key: 'past', on_conflict: 'replace' }))
    expect([status, body.id, isDueNow(body)]).toEqual([200, first.id, true])
  })

  it('replaces no pending task with one whose deadline has passed too, alone and in a batch', async () => {
    const late = aTaskBody({ ...past, expires_at: '2021-01-01T00:00:00Z', key: 'late', on_conflict: 'replace' })
    const first = await create({ key: 'late', execute_at: at(3_600_000) })
    const alone = await call('POST', tasks, late)
    const batch = await call('POST', `${tasks}/batch`, { tasks: [late] })
    const refusals = [alone.body.errors, batch.body.data[0].error.errors]
    expect([alone.status, ...refusals.map(([{ code }]) => code)]).toEqual([
      400,
      ...Array(2).fill('expires_at_not_after_execute_at'),
    ])
    expect((await call('GET', `${tasks}/${first.id}`)).body.execute_at).toBe(first.execute_at)
  })

  it('ends a task whose deadline has passed as expired', async () => {
    const { status, body } = await call('POST', tasks, aTaskBody({ ...past, expires_at: '2021-01-01T00:00:00Z' }))
    expect([status, body.expires_at]).toEqual([201, '2021-01-01T00:00:00.000Z'])
  })
})

describe('stop', () => {
  it('ends a task that waits for a retry, and records who did', async () => {
    const task = await create({})
    const early = await call('POST', `${tasks}/${task.id}/stop`)
    expect([early.status, early.body.code, early.body.current_state]).toEqual([409, 'task_not_retrying', 'pending'])
    await makeRetrying(task.id)
    const { status, body } = await call('POST', `${tasks}/${task.id}/stop`)
    expect([status, body.state, body.state_reason, body.next_retry_at]).toEqual([200, 'dead', 'stopped', null])
    const entry = await api.db.query(`SELECT FROM audit_log WHERE action = 'task.stopped' AND object_id = $1`, [
      task.id,
    ])
    expect(entry.rowCount).toBe(1)
    expect((await call('POST', `${tasks}/${task.id}/stop`)).status).toBe(409)
    expect((await call('POST', `${tasks}/task_01kajvz3e9fkwvx3tb1h2c4d5e/stop`)).status).toBe(404)
  })
})

describe('many at once', () => {
  it('are cancelled by id or by filter, and counted before', async () => {
    const wanted = [await create({ labels: ['bulk'], name: 'b1' }), await create({ labels: ['bulk'], name: 'b2' })]
    const other = await create({ labels: ['bulk'], name: 'other' })
    const count = async (query: string) => (await call('GET', `${tasks}/count?${query}`)).body
    expect(await count('label=bulk&state=pending&name=b')).toEqual({ count: 2, is_capped: false })
    const filtered = await call('POST', `${tasks}/cancel`, { filter: { label: ['bulk'], name: 'b' } })
    expect([filtered.status, filtered.body]).toEqual([200, { cancelled: 2, operation: null }])
    expect(await count('label=bulk&state=pending')).toEqual({ count: 1, is_capped: false })
    const byId = await call('POST', `${tasks}/cancel`, { ids: [...wanted.map(({ id }) => id), other.id] })
    expect(byId.body).toEqual({ cancelled: 1, operation: null })
  })

  it('are cancelled after their claims are undone, when a dispatcher had prefetched them', async () => {
    const id = fromId('task', (await create({ labels: ['soon'] })).id) ?? ''
    await api.db.query(`UPDATE tasks SET due_at = now() - interval '1 second' WHERE id = $1`, [id])
    const { id: dispatcherId } = await enterDispatchers(api.db)
    const [claim] = await claimTasks(api.db, { dispatcherId }, [{ taskId: id, token: randomUUID(), isPrefetch: true }])
    if (claim?.kind !== 'claimed') throw new Error('The task was not claimed.')
    const answer = call('POST', `${tasks}/cancel`, { filter: { label: 'soon' } })
    const first = await Promise.race([answer, new Promise(resolve => setTimeout(resolve, 200))])
    expect(first).toBeUndefined()
    await undoClaims(api.db, [claim.task])
    expect((await answer).body).toEqual({ cancelled: 1, operation: null })
  })

  it('are stopped', async () => {
    const task = await create({ labels: ['halt'] })
    await create({ labels: ['halt'] })
    await makeRetrying(task.id)
    const { body } = await call('POST', `${tasks}/stop`, { filter: { label: 'halt', source: ['task', 'cron'] } })
    expect(body).toEqual({ stopped: 1, operation: null })
  })

  it('run in the background above 1,000, one operation at a time', async () => {
    const rows = (n: number) => Array.from({ length: n }, () => aTaskBody({ labels: ['many'] }))
    await call('POST', `${tasks}/batch`, { tasks: rows(1_000) })
    await call('POST', `${tasks}/batch`, { tasks: rows(1) })
    const started = await call('POST', `${tasks}/cancel`, { filter: { label: 'many' } })
    expect([started.status, started.body.cancelled, started.body.operation.total]).toEqual([202, 0, 1_001])
    const { id } = started.body.operation
    expect(started.headers.get('location')).toBe(`${tasks}/operations/${id}`)
    expect(started.body.operation.filter).toMatchObject({ label: ['many'], source: null })
    const again = await call('POST', `${tasks}/cancel`, { filter: { label: 'many' } })
    expect(again.body.operation.id).toBe(id)
    const stop = await call('POST', `${tasks}/cancel`, { filter: {} })
    expect([stop.status, stop.body.code]).toEqual([409, 'conflict'])
    const cancelled = await call('DELETE', `${tasks}/operations/${id}`)
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
    expect((await call('DELETE', `${tasks}/operations/${id}`)).status).toBe(409)
    expect((await call('GET', `${tasks}/operations/${id}`)).body.status).toBe('cancelled')
  }, 60_000)

  it('run in the background when more than 100,000 tasks would have to be checked, which no count does either', async () => {
    const other = await create({ name: 'the oldest' })
    // In parts, because a statement has ten seconds.
    for (let added = 0; added < 100_000; added += 10_000) {
      await api.db.query(
        `WITH added AS (
           INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
           SELECT uuid_v7(now() + interval '1 s'), workspace_id, 'task', at, at
           FROM tasks, generate_series(1, 10000), LATERAL (SELECT now() + interval '1 year' AS at) due WHERE id = $1 RETURNING id
         )
         INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
         SELECT id, 'Many', 'https://example.com/', 'POST', 3, 'fixed', 1000, 1000, 1000 FROM added`,
        [fromId('task', other.id)],
      )
    }
    const filter = { name: 'the oldest' }
    const counted = await call('GET', `${tasks}/count?name=the%20oldest&state=pending`)
    expect(counted.body.is_capped).toBe(true)
    const { status, body } = await call('POST', `${tasks}/cancel`, { filter })
    expect([status, body.cancelled, body.operation.status]).toEqual([202, 0, 'running'])
    const operation = async () => (await call('GET', `${tasks}/operations/${body.operation.id}`)).body
    while ((await operation()).status === 'running') await stepBulkOperation(api.db, 10_000)
    const done = await operation()
    expect([done.ended, done.total]).toEqual([1, 1])
    expect((await call('GET', `${tasks}/${other.id}`)).body.state).toBe('cancelled')
  }, 120_000)

  it.each([{}, { ids: [] }, { ids: ['task_01kajvz3e9fkwvx3tb1h2c4d5e'], filter: {} }, { filter: { state: 'dead' } }])(
    'refuses %j',
    async body => {
      expect((await call('POST', `${tasks}/cancel`, body)).status).toBe(400)
    },
  )
})
