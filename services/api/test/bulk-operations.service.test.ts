import { stepBulkOperation } from '@belfry/db/bulk-operations/step-bulk-operation'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import { expect, it } from 'vitest'
import { anOrganization } from './organization.ts'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'
const operations = '/api/v1/scheduler/bulk-operations'

async function aCaller() {
  const { apiKey, workspaceId } = await api.signUp()
  const call = (method: string, path: string, body?: unknown) => api.send(method, path, body, { 'X-Api-Key': apiKey })
  const create = async (state: string, changes: Record<string, unknown> = {}): Promise<string> => {
    const { id } = (await call('POST', tasks, aTaskBody(changes))).body
    const text = `UPDATE tasks SET state = $2::task_state, attempts = 1, finished_at = CASE WHEN $2 = 'dead'::task_state THEN now() - interval '1 s' END WHERE id = $1`
    if (state !== 'pending') await api.db.query(text, [fromId('task', id), state])
    return id
  }
  const start = (body: object) => call('POST', operations, body)
  const stateOf = async (id: string) => (await call('GET', `${tasks}/${id}`)).body.state
  return { call, create, start, stateOf, workspaceId }
}

const runAll = async () => {
  while (await stepBulkOperation(api.db, 100));
}

it.each([
  ['cancel', 'pending', 'cancelled'],
  ['stop', 'retrying', 'dead'],
  ['replay', 'dead', 'dead'],
  ['discard', 'dead', 'dead'],
])('%s: runs on %s tasks that match, with progress', async (action, state, then) => {
  const { call, create, start, stateOf, workspaceId } = await aCaller()
  const [labelled, other] = [await create(state, { labels: ['a'] }), await create(state)]
  const started = await start({ action, filter: { label: ['a', 'b'], host: 'EXAMPLE.com' } })
  expect(started.status).toBe(202)
  expect(started.headers.get('location')).toBe(`${operations}/${started.body.id}`)
  const nothing = { source: null, cronjob_id: null, event_id: null, topic: null, queue: null, callback_of: null }
  expect(started.body).toMatchObject({
    ...{ workspace_id: workspaceId, action, ids: null, per_second: null, status: 'running', total: 1, done: 0 },
    filter: { ...nothing, label: ['a', 'b'], name: null, from: null, to: null, host: ['example.com'], error: null },
  })
  await runAll()
  const { body } = await call('GET', `${operations}/${started.body.id}`)
  expect([body.status, body.total, body.done]).toEqual(['done', 1, 1])
  expect([await stateOf(labelled), await stateOf(other)]).toEqual([then, state])
  const { data } = (await call('GET', '/api/v1/scheduler/dead-letters')).body
  const dead = { cancel: [], stop: [labelled], replay: [other], discard: [other] }[action]
  expect(data.map(({ id }: Json) => id)).toEqual(dead)
})

it('replays tasks that were cancelled for a reason, each once', async () => {
  const { call, create, start } = await aCaller()
  const cancel = (id: string, reason: string) =>
    api.db.query(`UPDATE tasks SET state_reason = $2, finished_at = now() - interval '1 s' WHERE id = $1`, [
      fromId('task', id),
      reason,
    ])
  const ids = [await create('cancelled'), await create('cancelled'), await create('cancelled')]
  const reasons = ['monthly_execution_limit', 'monthly_execution_limit', 'user']
  for (const [i, reason] of reasons.entries()) await cancel(ids[i] ?? '', reason)
  const listed = (await call('GET', `${tasks}?state_reason=monthly_execution_limit`)).body.data
  expect(listed.map(({ id }: Json) => id)).toEqual([ids[1], ids[0]])
  await call('POST', `${tasks}/${ids[1]}/replay`)
  const filter = { state_reason: ['monthly_execution_limit'] }
  for (const done of [1, 0]) {
    const started = await start({ action: 'replay', filter })
    expect([started.status, started.body.total, started.body.filter?.state_reason]).toEqual([
      202,
      done,
      filter.state_reason,
    ])
    await runAll()
    expect((await call('GET', `${operations}/${started.body.id}`)).body.done).toBe(done)
  }
  await start({ action: 'replay', filter: {} })
  await runAll()
  const { data } = (await call('GET', `${tasks}?state=pending`)).body
  expect(data.map((task: Json) => task.replay_of).sort()).toEqual([ids[0], ids[1]].sort())
})

it('cancels occurrences that are not due yet, or all other pending tasks', async () => {
  const { create, start, stateOf } = await aCaller()
  const ids = [await create('pending'), await create('pending')]
  await api.db.query(`UPDATE tasks SET source = 'cron' WHERE id = $1`, [fromId('task', ids[0] ?? '')])
  const states = () => Promise.all(ids.map(stateOf))
  const { status, body } = await start({ action: 'cancel', filter: { upcoming: false } })
  expect([status, body.filter?.upcoming]).toEqual([202, false])
  await runAll()
  expect(await states()).toEqual(['pending', 'cancelled'])
  expect((await start({ action: 'cancel', filter: { upcoming: true } })).status).toBe(202)
  await runAll()
  expect(await states()).toEqual(['cancelled', 'cancelled'])
})

it('runs on chosen tasks, and skips those of other states and workspaces', async () => {
  const [mine, others] = [await aCaller(), await aCaller()]
  const ids = [await mine.create('pending'), await mine.create('retrying'), await others.create('pending')]
  const left = await mine.create('pending')
  const { body } = await mine.start({ action: 'cancel', ids })
  expect([body.ids, body.total]).toEqual([ids, 1])
  await runAll()
  const states = await Promise.all([...ids.slice(0, 2), left].map(mine.stateOf))
  expect([...states, await others.stateOf(ids[2] ?? '')]).toEqual(['cancelled', 'retrying', 'pending', 'pending'])
})

it('ends tasks and settles dead letters in one operation each at a time, and cancels them', async () => {
  const { call, start, create } = await aCaller()
  await create('pending')
  const cancel = await start({ action: 'cancel', filter: {} })
  expect((await start({ action: 'cancel', filter: {} })).body).toEqual(cancel.body)
  for (const body of [
    { action: 'stop', filter: {} },
    { action: 'cancel', filter: { name: 'A' } },
  ])
    expect((await start(body)).body).toMatchObject({ status: 409, code: 'conflict' })
  const replay = await start({ action: 'replay', filter: { topic: ['a', 'b'] }, per_second: 5 })
  expect([replay.status, replay.body.per_second]).toEqual([202, 5])
  expect((await start({ action: 'replay', filter: { topic: ['a', 'b'] } })).status).toBe(409)
  const listed = (await call('GET', `${operations}?limit=1`)).body
  expect(listed.data).toEqual([replay.body])
  expect((await call('GET', `${operations}?cursor=${listed.next_cursor}`)).body).toEqual({
    data: [cancel.body],
    next_cursor: null,
  })
  for (const { body } of [cancel, replay]) {
    expect((await call('POST', `${operations}/${body.id}/cancel`)).body.status).toBe('cancelled')
    expect((await call('POST', `${operations}/${body.id}/cancel`)).status).toBe(409)
  }
})

it('has the other names of its kind, with a filter of one value each', async () => {
  const { call, start } = await aCaller()
  const { body: stop } = await start({ action: 'stop', filter: { label: 'a' } })
  const { body: replay } = await start({ action: 'replay', filter: { topic: 'x.y', label: ['a', 'b'] } })
  const [ofTasks, ofDeadLetters] = [`${tasks}/operations`, '/api/v1/scheduler/dead-letters/operations']
  expect((await call('GET', `${ofTasks}/${stop.id}`)).body).toMatchObject({
    id: stop.id,
    filter: { label: ['a'] },
    ended: 0,
  })
  const { filter } = (await call('GET', `${ofDeadLetters}/${replay.id}`)).body
  expect(filter).toMatchObject({ topic: 'x.y', label: null })
  for (const path of [`${ofTasks}/${replay.id}`, `${ofDeadLetters}/${stop.id}`])
    for (const method of ['GET', 'DELETE']) expect((await call(method, path)).status).toBe(404)
  expect((await call('GET', `${operations}/${toId('op', newUuid())}`)).status).toBe(404)
})

it('a key sees, starts and cancels the operations of its rights', async () => {
  const organization = await anOrganization(api)
  const all = await organization.apiKey()
  const start = (action: string, key: Record<string, string>) =>
    api.send('POST', operations, { action, filter: {} }, key)
  const [cancel, replay] = [(await start('cancel', all)).body.id, (await start('replay', all)).body.id]
  const reader = await organization.apiKey({ scopes: ['dead_letter.read'] })
  expect((await api.send('GET', operations, undefined, reader)).body.data).toMatchObject([{ id: replay }])
  const read = (id: string) => api.send('GET', `${operations}/${id}`, undefined, reader)
  expect([(await read(replay)).status, (await read(cancel)).status]).toEqual([200, 403])
  const replayer = await organization.apiKey({ scopes: ['dead_letter.replay'] })
  const end = async (id: string) => (await api.send('POST', `${operations}/${id}/cancel`, undefined, replayer)).status
  expect([await end(cancel), await end(replay)]).toEqual([403, 200])
  const statuses: number[] = []
  for (const action of ['cancel', 'stop', 'discard', 'replay']) statuses.push((await start(action, replayer)).status)
  expect(statuses).toEqual([403, 403, 403, 202])
  expect((await api.send('GET', operations, undefined, replayer)).status).toBe(403)
})

it.each([
  [{ filter: {} }, 'action'],
  [{ action: 'delete', filter: {} }, 'action'],
  [{ action: 'cancel' }, ''],
  [{ action: 'cancel', ids: [], filter: {} }, 'ids'],
  [{ action: 'cancel', filter: { state: 'pending' } }, 'filter.state'],
  [{ action: 'discard', filter: {}, per_second: 5 }, 'per_second'],
  [{ action: 'replay', filter: {}, per_second: 0 }, 'per_second'],
])('refuses %j', async (body, path) => {
  const { start } = await aCaller()
  const answer = await start(body)
  expect([answer.status, answer.body.errors?.[0].path]).toEqual([400, path])
})
