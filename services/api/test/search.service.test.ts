import { fromId, newUuid, toId } from '@belfry/domain/id'
import { beforeAll, describe, expect, it } from 'vitest'
import { groupFailures } from '../src/runs/count-runs.ts'
import { searchNames } from '../src/search/search.ts'
import { storeRuns } from './run-rows.ts'
import { aTaskBody, type Caller, type Json, useApi } from './setup.ts'

const api = useApi()
const base = '/api/v1/scheduler'
const minute = 60_000

type Request = { name: string; url: string; topic?: string; labels?: string[] }

/** Stores the request of a task whose runs are stored. */
async function storeRequest({ name, url, topic, labels = [] }: Request): Promise<string> {
  const id = newUuid()
  await api.db.query(
    `INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic,
                                labels)
     VALUES ($1, $2, $3, 'POST', 0, 'fixed', 1000, 1000, 1000, $4, $5)`,
    [id, name, url, topic ?? null, labels],
  )
  return id
}

let caller: Caller
let workspaceId: string
let job: Json
let task: Json
const send = async (path: string) => {
  const { status, body } = await api.send('GET', base + path, undefined, { 'X-Api-Key': caller.apiKey })
  expect(status).toBe(200)
  return body
}

beforeAll(async () => {
  caller = await api.signUp()
  workspaceId = fromId('ws', caller.workspaceId) ?? ''
  const now = Date.now()
  const ago = (minutes: number) => new Date(now - minutes * minute)
  const charge = await storeRequest({ name: 'Charge subscription', url: 'https://Pay.example.com:8443/a?b' })
  const mail = await storeRequest({
    ...{ name: 'Send mail', url: 'https://mail.example.com', topic: 'mail.wanted', labels: ['to:ada'] },
  })
  const failed = { workspaceId, status: 'failed' as const }
  await storeRuns(api.db, [
    { ...failed, taskId: charge, responseStatus: 500, startedAt: ago(50) },
    { ...failed, taskId: charge, responseStatus: 500, startedAt: ago(30) },
    {
      ...failed,
      taskId: charge,
      responseStatus: 500,
      startedAt: ago(10),
      responseBody: Buffer.from('<p>No slots</p>'),
    },
    { ...failed, taskId: charge, responseStatus: null, startedAt: ago(9) },
    { ...failed, taskId: mail, responseStatus: 500, startedAt: ago(8) },
    { workspaceId, taskId: mail, startedAt: ago(7) },
  ])
  await api.db.query(
    `UPDATE runs SET error_code = CASE WHEN response_status IS NULL THEN 'timeout' ELSE 'http_status' END,
                     error_message = 'At ' || started_at
     WHERE workspace_id = $1 AND status = 'failed'`,
    [workspaceId],
  )
  const headers = { 'X-Api-Key': caller.apiKey }
  const cron = { name: 'Nightly charge', cron: '0 3 1 1 *', method: 'POST', url: 'https://example.com/' }
  job = (await api.send('POST', `${base}/cronjobs`, cron, headers)).body
  task = (await api.send('POST', `${base}/tasks`, aTaskBody({ name: 'Recharge' }), headers)).body
})

describe('GET /runs/failures', () => {
  it('groups failed runs by host, error and status, with the first, the latest and an example', async () => {
    const { data, counted, is_partial } = await send('/runs/failures')
    expect([counted, is_partial]).toEqual([5, false])
    expect(data.map((one: Json) => [one.host, one.error_code, one.response_status, one.count])).toEqual([
      ['pay.example.com:8443', 'http_status', 500, 3],
      ['mail.example.com', 'http_status', 500, 1],
      ['pay.example.com:8443', 'timeout', null, 1],
    ])
    expect(data.map((one: Json) => one.cause)).toEqual(['No slots', 'ok', null])
    const [group] = data
    const example = await send(`/runs/${group.last_run_id}`)
    expect(example).toMatchObject({ task_name: 'Charge subscription', started_at: group.last_at })
    expect(group).toMatchObject({ task_name: 'Charge subscription', error_message: example.error.message })
    expect(Date.parse(group.last_at) - Date.parse(group.first_at)).toBe(40 * minute)
  })

  it('counts the failures of a time only', async () => {
    const { data } = await send('/runs/failures')
    const { first_at: from, last_at: to } = data[0]
    const some = await send(`/runs/failures?from=${from}&to=${to}`)
    expect(some.data).toMatchObject([{ host: 'pay.example.com:8443', count: 2, first_at: from }])
    expect(some.counted).toBe(2)
    expect((await send(`/runs/failures?to=${from}`)).data).toEqual([])
  })

  it('are ignored or resolved by an editor, and a run after the resolution opens them again', async () => {
    const groups = async () => (await send('/runs/failures?host=pay.example.com:8443')).data as Json[]
    const [group] = await groups()
    const { host, error_code, response_status } = group
    const set = async (state: string) => {
      const body = { host, error_code, response_status, state }
      expect((await api.send('PUT', `${base}/runs/failures`, body, { 'X-Api-Key': caller.apiKey })).status).toBe(204)
      return (await groups()).map(one => one.state)
    }
    expect(await set('ignored')).toEqual(['ignored', 'open'])
    expect(await set('resolved')).toEqual(['resolved', 'open'])
    const text = `UPDATE failure_states SET changed_at = $2::timestamptz - interval '1 s' WHERE workspace_id = $1`
    await api.db.query(text, [workspaceId, group.last_at])
    expect((await groups()).map(one => one.state)).toEqual(['open', 'open'])
    expect(await set('ignored')).toEqual(['ignored', 'open'])
    expect(await set('open')).toEqual(['open', 'open'])
    const log = `/api/v1/organizations/${caller.organizationId}/audit-log?action=host.failure_changed`
    const { data } = (await api.send('GET', log, undefined, { Authorization: `Bearer ${caller.token}` })).body
    expect(data[0]).toMatchObject({ object_id: host, details: { error_code, response_status, state: 'open' } })
  })

  it('counts the failures of a host only', async () => {
    const host = 'pay.example.com:8443'
    const { data, counted } = await send(`/runs/failures?host=${host.toUpperCase()}`)
    expect(new Set(data.map((one: Json) => one.host))).toEqual(new Set([host]))
    expect(counted).toBe(data.reduce((sum: number, one: Json) => sum + one.count, 0))
    expect(await send('/runs/failures?host=unknown.example.com')).toEqual({ data: [], counted: 0, is_partial: false })
  })

  it('groups the latest failures, and says that there are more', async () => {
    const { data, counted, is_partial } = await groupFailures(api.db, workspaceId, {}, { runs: 3, groups: 50 })
    expect([counted, is_partial]).toEqual([3, true])
    expect(data.reduce((sum, { count }) => sum + count, 0)).toBe(3)
    expect(data.find(one => one.error_code === 'http_status' && one.host.startsWith('pay'))?.count).toBe(1)
    expect(await groupFailures(api.db, workspaceId, {}, { runs: 5, groups: 50 })).toMatchObject({
      counted: 5,
      is_partial: false,
    })
  })

  it('are the runs that the filters of the log find', async () => {
    for (const { host, error_code, response_status, count } of (await send('/runs/failures')).data) {
      const status = response_status === null ? '' : `&response_status=${response_status}`
      expect((await send(`/runs?host=${host}&error=${error_code}${status}`)).data).toHaveLength(count)
    }
    expect((await send('/runs?host=PAY.example.com:8443')).data).toHaveLength(4)
    expect((await send('/runs?name=Charge')).data).toHaveLength(4)
    expect((await send('/runs?name=subscription')).data).toEqual([])
    expect((await send('/runs?name=Send&status=success')).data).toHaveLength(1)
  })
})

describe('GET /search', () => {
  it('finds tasks, hosts, topics and cron jobs by a part of the name, in any case', async () => {
    const { data } = await send('/search?q=CHARGE')
    expect(data.map((one: Json) => [one.kind, one.name, one.count])).toEqual([
      ['cron_job', 'Nightly charge', 1],
      ['task', 'Recharge', 1],
      ['task', 'Charge subscription', 1],
    ])
    expect(data.map((one: Json) => one.id)).toEqual([job.id, task.id, expect.stringMatching(/^task_/)])
    expect((await send('/search?q=mail')).data).toMatchObject([
      { kind: 'host', name: 'mail.example.com', id: null },
      { kind: 'task', name: 'Send mail' },
      { kind: 'topic', name: 'mail.wanted', id: null },
    ])
    expect((await send('/search?q=nothing')).data).toEqual([])
    expect((await send('/search?q=%25')).data).toEqual([])
  })

  it('finds labels: a part of a recent one, and a whole one on tasks of any age', async () => {
    expect((await send('/search?q=ada')).data).toMatchObject([{ kind: 'label', name: 'to:ada', id: null, count: 1 }])
    const labelled = newUuid()
    await api.db.query(`INSERT INTO task_labels (workspace_id, label, task_id) VALUES ($1, 'order:4711', $2)`, [
      workspaceId,
      labelled,
    ])
    expect((await send('/search?q=order%3A4711')).data).toMatchObject([{ kind: 'label', name: 'order:4711', count: 1 }])
    expect((await send('/search?q=order%3A471')).data).toEqual([])
  })

  it('finds queues and secrets by their names', async () => {
    const headers = { 'X-Api-Key': caller.apiKey }
    await api.send('PUT', `${base}/queues/sandwiches`, {}, headers)
    const secret = `/api/v1/workspaces/${caller.workspaceId}/secrets/SAND_KEY`
    expect((await api.send('PUT', secret, { value: 'a value of it' }, headers)).status).toBe(201)
    const none = { id: null, at: null, count: 1 }
    expect((await send('/search?q=sand')).data).toEqual([
      { kind: 'queue', name: 'sandwiches', ...none },
      { kind: 'secret', name: 'SAND_KEY', ...none },
    ])
  })

  it('finds ids, of the own workspace only', async () => {
    const { data } = await send('/runs?limit=1')
    expect((await send(`/search?q=${data[0].id}`)).data).toMatchObject([{ kind: 'run', id: data[0].id }])
    const { data: tasks } = await send('/tasks?limit=1')
    expect((await send(`/search?q=${tasks[0].id}`)).data).toMatchObject([{ kind: 'task', name: tasks[0].name }])
    const { data: jobs } = await send('/cronjobs?limit=1')
    expect((await send(`/search?q=${jobs[0].id}`)).data).toMatchObject([{ kind: 'cron_job', name: jobs[0].name }])
    expect((await send(`/search?q=${toId('task', newUuid())}`)).data).toEqual([])
    const other = await api.signUp()
    for (const q of [data[0].id, tasks[0].id, jobs[0].id, 'charge']) {
      const path = `${base}/search?q=${q}`
      expect((await api.send('GET', path, undefined, { 'X-Api-Key': other.apiKey })).body.data).toEqual([])
    }
  })

  it('searches the latest rows, and says that there are older ones', async () => {
    const limits = { runs: 1, tasks: 10, cronJobs: 10 }
    const result = await searchNames(api.db, workspaceId, 'a', limits)
    expect(result.is_partial).toBe(true)
    expect(result.data.map(({ name }) => name)).not.toContain('Charge subscription')
    expect((await searchNames(api.db, workspaceId, 'none', limits)).is_partial).toBe(true)
    expect((await searchNames(api.db, workspaceId, 'none')).is_partial).toBe(false)
  })

  it('refuses an empty text', async () => {
    const { status, body } = await api.send('GET', `${base}/search?q=`, undefined, { 'X-Api-Key': caller.apiKey })
    expect([status, body.errors[0].path]).toEqual([400, 'q'])
  })
})
