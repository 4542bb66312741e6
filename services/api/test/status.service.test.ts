import { randomUUID } from 'node:crypto'
import { beatScheduler } from '@belfry/db/dispatchers/beat-scheduler'
import { enterDispatchers } from '@belfry/db/dispatchers/heartbeat'
import { publishCircuits } from '@belfry/db/dispatchers/host-circuits'
import { fromId } from '@belfry/domain/id'
import { expect, it } from 'vitest'
import { anOrganization } from './organization.ts'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi({}, { isAlone: true }) // reads the heartbeats of the installation
const read = async () => (await api.call('GET', '/api/v1/scheduler/status')).body

it('says which processes have a heartbeat, within five seconds of the last one', async () => {
  const none = { live: 0, last_seen_at: null }
  const notice = { count: 1, name: null, since: null, tasks: 0 }
  await api.db.query('DELETE FROM dispatchers') // of the other tests
  await expect.poll(read).toEqual({
    ...{ dispatchers: none, schedulers: none, queue: 'none' },
    notices: [
      { kind: 'no_dispatcher', ...notice },
      { kind: 'no_scheduler', ...notice },
    ],
    dead_letters: 0,
  })
  const [{ id }, scheduler] = [await enterDispatchers(api.db), randomUUID()]
  const readWhen = async (silentS: number) => {
    await beatScheduler(api.db, scheduler)
    const text = `UPDATE dispatchers SET seen_at = now() - $2 * interval '1 second' WHERE id = $1`
    await api.db.query(text, [id, silentS])
    return read()
  }
  const both = { dispatchers: { live: 1 }, schedulers: { live: 1 }, notices: [] }
  await expect.poll(() => readWhen(0)).toMatchObject(both)
  const lost = { dispatchers: { live: 0, last_seen_at: expect.any(String) }, schedulers: { live: 1 } }
  await expect.poll(() => readWhen(5)).toMatchObject(lost)
  expect((await read()).notices).toMatchObject([{ kind: 'no_dispatcher', since: expect.any(String) }])
})

it('says what keeps the tasks of a workspace from running, since when, and how many wait or were cancelled', async () => {
  const { apiKey, workspaceId, organizationId } = await api.signUp()
  const [workspace, organization] = [fromId('ws', workspaceId), fromId('org', organizationId)]
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await api.send(method, `/api/v1/scheduler${path}`, body, { 'X-Api-Key': apiKey })
    expect(answer.status).toBeLessThan(300)
    return answer.body
  }
  const ofTasks = async () => {
    const found: Json[] = (await call('GET', '/status')).notices
    return found.filter(({ kind }) => !kind.startsWith('no_'))
  }
  const create = async (changes: object, state: string) => {
    const { id } = await call('POST', '/tasks', { ...aTaskBody(), ...changes })
    await api.db.query(`UPDATE tasks SET due_at = now() - interval '1 minute', ${state} WHERE id = $1`, [
      fromId('task', id),
    ])
  }
  expect(await ofTasks()).toEqual([])
  await create({ url: 'https://Paused.example/hook' }, 'waits_for = 0')
  await create({ queue: 'slow' }, 'waits_for = 1')
  await create({ queue: 'slow' }, 'waits_for = 1')
  await create({ queue: 'slower' }, 'waits_for = 1')
  await create({}, 'waits_for = 2')
  await create({}, `state = 'cancelled', state_reason = 'monthly_execution_limit', finished_at = now()`)
  await create({}, `state = 'cancelled', state_reason = 'user', finished_at = now()`)
  const job = await call('POST', '/cronjobs', {
    name: 'Nightly',
    cron: '0 3 1 1 *',
    method: 'POST',
    url: 'https://a.example',
  })
  await call('POST', '/queues/slow/pause')
  await call('POST', '/queues/slower/pause')
  await call('POST', '/hosts/paused.example/pause')
  await call('POST', `/cronjobs/${job.id}/pause`)
  await api.db.query(`UPDATE organizations SET tier = 'free' WHERE id = $1`, [organization])
  await api.db.query(
    `INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit) VALUES (utc_month(now()), $1, 1e9, 0, 0, 1)`,
    [organization],
  )
  const since = expect.any(String)
  const expected = [
    { kind: 'executions_used', count: 1, name: null, since, tasks: 1 },
    { kind: 'held', count: 1, name: null, since: null, tasks: 1 },
    { kind: 'host_paused', count: 1, name: 'paused.example', since, tasks: 1 },
    { kind: 'queue_paused', count: 2, name: null, since, tasks: 3 },
    { kind: 'cron_job_paused', count: 1, name: 'Nightly', since, tasks: 0 },
  ]
  await expect.poll(ofTasks).toEqual(expected)
  const circuit = { workspaceId: workspace ?? '', host: 'open.example', openForMs: 30_000 }
  const { id } = await enterDispatchers(api.db)
  await publishCircuits(api.db, id, [circuit])
  const open = expect.objectContaining({ kind: 'circuit_open', name: 'open.example', tasks: 0 })
  await expect.poll(ofTasks).toContainEqual(open)
  const upcoming = await call('GET', '/upcoming')
  expect([upcoming.overdue, upcoming.blocked]).toEqual([4, 4])
})

it('names to an API key only what it may read', async () => {
  const organization = await anOrganization(api)
  const send = async (method: string, path: string, scopes: string[], body?: unknown) =>
    (await api.send(method, `/api/v1/scheduler${path}`, body, await organization.apiKey({ scopes }))).body
  await send('POST', '/tasks', ['full'], { ...aTaskBody(), queue: 'slow' })
  await send('POST', '/queues/slow/pause', ['full'])
  await send('POST', '/hosts/paused.example/pause', ['full'])
  const named = async (...scopes: string[]) => {
    const found: Json[] = (await send('GET', '/status', scopes)).notices
    return found.flatMap(({ name }) => name ?? [])
  }
  await expect.poll(() => named('full')).toEqual(['paused.example', 'slow'])
  expect(await named('task.read', 'queue.read')).toEqual(['slow'])
  expect(await named('task.read')).toEqual([])
})

it('counts the dead letters of a workspace up to 1,000, for callers who may read them', async () => {
  const { apiKey } = await anOrganization(api)
  const [full, without] = [await apiKey({ scopes: ['full'] }), await apiKey({ scopes: ['task.read'] })]
  const counted = async (key = full) =>
    (await api.send('GET', '/api/v1/scheduler/status', undefined, key)).body.dead_letters
  const { id } = (await api.send('POST', '/api/v1/scheduler/tasks', aTaskBody(), full)).body
  expect(await counted()).toBe(0)
  await api.db.query(`UPDATE tasks SET state = 'dead', finished_at = now() WHERE id = $1`, [fromId('task', id)])
  expect([await counted(), await counted(without)]).toEqual([1, null])
  await api.send('POST', '/api/v1/scheduler/dead-letters/discard', { ids: [id] }, full)
  expect(await counted()).toBe(0)
  await api.db.query(
    `INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
     SELECT gen_random_uuid(), workspace_id, source, state, execute_at, due_at, finished_at
     FROM tasks, generate_series(1, 1001) WHERE id = $1`,
    [fromId('task', id)],
  )
  expect(await counted()).toBe(1_000)
})
