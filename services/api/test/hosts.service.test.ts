import { enterDispatchers } from '@belfry/db/dispatchers/heartbeat'
import { publishCircuits } from '@belfry/db/dispatchers/host-circuits'
import { foldRunChanges } from '@belfry/db/run-statistics/fold-run-changes'
import { insertTasks } from '@belfry/db/tasks/insert-tasks'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { readHosts } from '../src/hosts/hosts.ts'
import { storeRuns } from './run-rows.ts'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi({}, { isAlone: true }) // reads what all dispatchers publish
const root = '/api/v1/scheduler'

async function aWorkspace() {
  const caller = await api.signUp()
  const send = async (method: string, path: string) =>
    api.send(method, root + path, undefined, { 'X-Api-Key': caller.apiKey })
  return { ...caller, send, uuid: fromId('ws', caller.workspaceId) ?? '' }
}

async function aDispatcher() {
  return (await enterDispatchers(api.db, false, { slots: 100, permitsPerHost: 64 })).id
}

/** Tests of other files may have left changes in the database. */
async function foldAll(): Promise<void> {
  while ((await foldRunChanges(api.db, 1_000)) > 0);
}

/** Stores tasks that are due now. Returns their ids. */
async function storeDue(workspaceId: string, url: string, count = 1): Promise<string[]> {
  const tasks = Array.from({ length: count }, () => ({
    ...{ id: newUuid(), workspaceId, source: 'event' as const, executeAt: null, name: 'Due', url, method: 'POST' },
    ...{
      headers: '{}',
      payload: null,
      maxRetries: 0,
      backoff: 'fixed' as const,
      baseDelayMs: 1_000,
      maxDelayMs: 1_000,
    },
    ...{ timeoutMs: 1_000, topic: null, eventId: null, replayOf: null },
  }))
  await insertTasks(api.db, tasks)
  await api.db.query(`UPDATE tasks SET due_at = now() - interval '1 minute' WHERE workspace_id = $1`, [workspaceId])
  return tasks.map(({ id }) => id)
}

describe('GET /hosts', () => {
  it('shows health, waiting tasks and limits of each host, the blocked ones first', async () => {
    const { send, uuid } = await aWorkspace()
    const runs = Array.from({ length: 20 }, (_, i) => ({
      workspaceId: uuid,
      status: i < 5 ? ('failed' as const) : ('success' as const),
      responseStatus: i < 5 ? 500 : 200,
    }))
    const ago = (minutes: number) => ({ workspaceId: uuid, startedAt: new Date(Date.now() - minutes * 60_000) })
    await storeRuns(api.db, [...runs, ago(30), ago(120), ago(25 * 60)])
    await foldAll()
    await storeDue(uuid, 'https://Down.example:8443/hook?x=1', 3)
    await storeDue(uuid, 'https://down.example:8443/other', 1)
    await publishCircuits(api.db, await aDispatcher(), [
      { workspaceId: uuid, host: 'down.example:8443', openForMs: 25_000 },
    ])
    const { status, body } = await send('GET', '/hosts')
    expect([status, body.omitted]).toEqual([200, 0])
    // Every dispatcher publishes the limit of the installation.
    await aDispatcher()
    expect((await send('GET', '/hosts')).body.data[0].max_in_flight).toBe(64)
    const [down, healthy] = body.data
    expect(body.data).toHaveLength(2)
    expect(down).toMatchObject({
      ...{ host: 'down.example:8443', waiting: 4, waiting_is_capped: false, max_in_flight: 64, last_failure: null },
      health: { day: { attempts: 0, failed: 0, duration_ms: null } },
      circuit: { state: 'open', dispatchers: 1, next_probe_at: expect.any(String) },
    })
    expect(healthy).toMatchObject({
      ...{ host: 'example.com', waiting: 0 },
      health: {
        five_minutes: { attempts: 20, failed: 5, duration_ms: 5 },
        hour: { attempts: 21, failed: 5, duration_ms: 5 },
        day: { attempts: 22, failed: 5, duration_ms: 5 },
      },
      circuit: { state: 'closed', since: null, next_probe_at: null, dispatchers: 0 },
      last_failure: { response_status: 500 },
    })
    expect((await send('GET', '/hosts/example.com')).body).toEqual(healthy)
  })

  it('says what it leaves out', async () => {
    const { uuid } = await aWorkspace()
    await storeRuns(api.db, [{ workspaceId: uuid }])
    await foldAll()
    for (const name of ['a', 'b', 'c']) await storeDue(uuid, `https://${name}.example/`, 2)
    const read = async (tasks: number, hosts: number) => {
      const { data, omitted } = await readHosts(api.db, uuid, Date.now(), { failures: 10, tasks, hosts })
      return [data.length, omitted, data[0]?.waiting_is_capped]
    }
    expect(await read(7, 4)).toEqual([4, 0, false])
    expect(await read(5, 2)).toEqual([2, 2, true])
  })

  it('belongs to one workspace', async () => {
    const [one, other] = [await aWorkspace(), await aWorkspace()]
    await storeDue(one.uuid, 'https://one.example/')
    const circuit = { workspaceId: one.uuid, host: 'one.example', openForMs: 25_000 }
    const dispatcher = await aDispatcher()
    await publishCircuits(api.db, dispatcher, [circuit])
    expect((await other.send('GET', '/hosts')).body.data).toEqual([])
    expect((await other.send('POST', '/hosts/one.example/reset')).body).toEqual({ dispatchers: 0 })
    expect((await publishCircuits(api.db, dispatcher, [circuit])).resets).toEqual([])
  })
})

describe('a task whose host has an open circuit breaker', () => {
  it('says so while it is due, alone and in lists, with the time of the next probe', async () => {
    const { send, uuid, apiKey } = await aWorkspace()
    await storeDue(uuid, 'https://down.example/hook')
    await storeDue(uuid, 'https://up.example/hook')
    const later = aTaskBody({ name: 'Later', url: 'https://down.example/later' })
    await api.send('POST', `${root}/tasks`, later, { 'X-Api-Key': apiKey })
    const blockedOf = async () => {
      const { data } = (await send('GET', '/tasks')).body
      return Object.fromEntries(data.map((task: Json) => [task.url, task.blocked]))
    }
    expect(new Set(Object.values(await blockedOf()))).toEqual(new Set([null]))
    await publishCircuits(api.db, await aDispatcher(), [{ workspaceId: uuid, host: 'down.example', openForMs: 20_000 }])
    const blocked = await blockedOf()
    expect(blocked['https://down.example/hook']).toMatchObject({ reason: 'circuit_open', host: 'down.example' })
    expect(Date.parse(blocked['https://down.example/hook'].next_probe_at)).toBeGreaterThan(Date.now() + 15_000)
    expect([blocked['https://up.example/hook'], blocked['https://down.example/later']]).toEqual([null, null])
    const [task] = (await send('GET', '/tasks')).body.data.filter((one: Json) => one.blocked)
    expect((await send('GET', `/tasks/${task.id}`)).body.blocked).toEqual(task.blocked)
  })
})

describe('POST /hosts/{host}/reset', () => {
  it('asks every dispatcher to close the breaker, once, and is in the audit log', async () => {
    const { send, uuid, token, organizationId } = await aWorkspace()
    const host = '127.0.0.1:3750'
    const path = `/hosts/${encodeURIComponent(host)}/reset`
    const none = { status: 202, body: { dispatchers: 0 } }
    expect(await send('POST', path)).toMatchObject(none)
    const dispatchers = [await aDispatcher(), await aDispatcher()]
    const circuit = { workspaceId: uuid, host, openForMs: 20_000 }
    for (const id of dispatchers) await publishCircuits(api.db, id, [circuit])
    const answer = await send('POST', path)
    expect([answer.status, answer.body]).toEqual([202, { dispatchers: 2 }])
    expect(await send('POST', path)).toMatchObject(none)
    for (const id of dispatchers) {
      expect((await publishCircuits(api.db, id, [circuit])).resets).toEqual([{ workspaceId: uuid, host }])
    }
    const log = `/api/v1/organizations/${organizationId}/audit-log?action=host.reset`
    const entries = await api.send('GET', log, undefined, { Authorization: `Bearer ${token}` })
    expect(entries.body.data).toMatchObject([{ object_id: host, actor: { api_key_id: expect.any(String) } }])
  })
})

describe('POST /hosts/{host}/pause', () => {
  it('pauses a host of one workspace, which its tasks, the list and the host say, until it is resumed', async () => {
    const [one, other] = [await aWorkspace(), await aWorkspace()]
    const host = 'paused.example:8443'
    const path = `/hosts/${encodeURIComponent(host)}`
    const [task] = await storeDue(one.uuid, `https://Paused.example:8443/hook`)
    const [callback] = await storeDue(one.uuid, `https://${host}/done`)
    await api.db.query(`UPDATE tasks SET source = 'callback' WHERE id = $1`, [callback])
    await storeDue(other.uuid, `https://${host}/hook`)
    const before = await one.send('GET', path)
    expect([before.status, before.body]).toMatchObject([200, { host, paused_at: null, waiting: 2 }])
    for (let i = 0; i < 2; i++) {
      const paused = await one.send('POST', `${path}/pause`)
      expect([paused.status, paused.body]).toMatchObject([200, { host, paused_at: expect.any(String), waiting: 2 }])
    }
    const { paused_at: since } = (await one.send('GET', '/hosts')).body.data[0]
    const blockedOf = async ({ send }: typeof one) =>
      (await send('GET', '/tasks')).body.data.map(({ blocked }: Json) => blocked)
    expect(await blockedOf(one)).toEqual([null, { reason: 'host_paused', host, since }])
    expect((await one.send('GET', `/tasks/${toId('task', task ?? '')}`)).body.blocked.reason).toBe('host_paused')
    expect(await blockedOf(other)).toEqual([null])
    expect((await other.send('GET', path)).body.paused_at).toBeNull()
    expect((await one.send('GET', '/upcoming')).body.blocked).toBe(2)
    expect((await publishCircuits(api.db, await aDispatcher(), [])).paused).toEqual([{ workspaceId: one.uuid, host }])
    for (let i = 0; i < 2; i++) expect((await one.send('POST', `${path}/resume`)).body.paused_at).toBeNull()
    expect(await blockedOf(one)).toEqual([null, null])
    const log = `/api/v1/organizations/${one.organizationId}/audit-log?action=host.paused&action=host.resumed`
    const entries = await api.send('GET', log, undefined, { Authorization: `Bearer ${one.token}` })
    const actions = entries.body.data.map(({ action, object_id }: Json) => [action, object_id])
    expect(actions).toEqual([...Array(2).fill(['host.resumed', host]), ...Array(2).fill(['host.paused', host])])
  })

  it('knows no host with another spelling, and pauses at most 1,000', async () => {
    const { send, uuid } = await aWorkspace()
    for (const name of ['Upper.example', 'a b', 'x/y', 'a%00', '']) {
      const answer = await send('POST', `/hosts/${encodeURIComponent(name)}/pause`)
      expect([name, answer.status]).toEqual([name, 404])
    }
    await api.db.query(
      `INSERT INTO resting_hosts (workspace_id, host, dispatcher, rests_until)
       SELECT $1, 'h' || n, '00000000-0000-0000-0000-000000000000', 'infinity' FROM generate_series(1, 1000) n`,
      [uuid],
    )
    expect((await send('POST', '/hosts/one.more/pause')).body.code).toBe('conflict')
    expect((await send('POST', '/hosts/h1/pause')).status).toBe(200)
    await api.db.query('DELETE FROM resting_hosts WHERE workspace_id = $1', [uuid])
  })
})

describe('GET /upcoming', () => {
  it('separates due tasks that wait for a host with an open circuit breaker from those that wait for Belfry', async () => {
    const { send, uuid } = await aWorkspace()
    await storeDue(uuid, 'https://dead.example.com/hook', 3)
    await storeDue(uuid, 'https://example.com/hook', 2)
    const read = async () => {
      const { body } = await send('GET', '/upcoming')
      return [body.overdue, body.blocked]
    }
    expect(await read()).toEqual([5, 0])
    const circuit = { workspaceId: uuid, host: 'dead.example.com', openForMs: 30_000 }
    await publishCircuits(api.db, await aDispatcher(), [circuit])
    expect(await read()).toEqual([5, 3])
  })
})
