import { enterDispatchers } from '@belfry/db/dispatchers/heartbeat'
import { publishCircuits } from '@belfry/db/dispatchers/host-circuits'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import { queueBackends, testRedisUrl } from '@belfry/test-support'
import { describe, expect, it } from 'vitest'
import { type Json, useApi } from './setup.ts'

const password = 'the operators of this test'
const board = '/admin/queues'
const letters = `${board}/api/queues/dead-letter`
const basic = (name: string, word: string) => ({
  Authorization: `Basic ${Buffer.from(`${name}:${word}`).toString('base64')}`,
})
const operator = basic('operator', password)

const redis = queueBackends().filter(backend => backend === 'redis')

describe.each([...redis, 'PostgreSQL alone'])('the board, on %s', store => {
  const hasRedis = store === 'redis'
  const api = useApi(() => ({ OPERATOR_PASSWORD: password, ...(hasRedis && { REDIS_URL: `${testRedisUrl()}/9` }) }))
  const reason = 'The connection was refused.'

  /** A dead task, and its dead letter. */
  async function aLetter(): Promise<string> {
    const [id, run, workspace] = [newUuid(), newUuid(), api.caller.workspaceId]
    await api.db.query(
      `WITH task AS (
         INSERT INTO tasks (id, workspace_id, source, state, attempts, run_id, execute_at, due_at, finished_at)
         VALUES ($1, $2, 'task', 'dead', 3, $3, now() - interval '1 hour', now(), now())
       ), run AS (
         INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, error_message)
         VALUES ($3, $2, $1, 3, 'task', 'failed', now(), now(), now(), $4)
       )
       INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
       VALUES ($1, 'A task', 'https://example.com/', 'POST', 2, 'fixed', 1000, 1000, 1000)`,
      [id, fromId('ws', workspace), run, reason],
    )
    return toId('task', id)
  }
  const see = async (queue: string): Promise<Json> => {
    const { body } = await api.send(
      'GET',
      `${board}/api/queues?activeQueue=${queue}&page=1&jobsPerPage=100`,
      undefined,
      operator,
    )
    return body.queues.find(({ name }: Json) => name === queue)
  }
  const replaysOf = async (task: string): Promise<Json[]> =>
    (await api.call('GET', '/api/v1/scheduler/tasks?limit=100')).body.data.filter((one: Json) => one.replay_of === task)

  it('is visible to operators only, and loads only our own files', async () => {
    const page = await api.send('GET', board, undefined, operator)
    expect(page.status).toBe(200)
    expect(page.text).toContain('Belfry queues')
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link ?? '')
    expect(links.filter(link => /^(https?:)?\/\//.test(link))).toEqual([])
    for (const link of links.filter(link => link.startsWith('static/'))) {
      const file = await api.send('GET', `${board}/${link}`, undefined, operator)
      expect([link, file.status]).toEqual([link, 200])
    }
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self';")
  })

  // Without a queue there are no jobs.
  if (hasRedis)
    it('shows every queue, and the task of a job', async () => {
      const dueAt = Date.now() + 60_000
      const due = [1, 2].map(() => ({
        id: toId('task', newUuid()),
        dueAt,
        workspace: api.caller.workspaceId,
        origin: 'https://a.example',
      }))
      await api.ctx.queue?.schedule(due, Date.now())
      const { body } = await api.send('GET', `${board}/api/queues`, undefined, operator)
      expect(body.queues.map(({ name }: Json) => name).sort()).toEqual(['dead-letter', 'dispatch'])
      const { jobs, readOnlyMode } = await see('dispatch')
      expect(readOnlyMode).toBe(true)
      const job = jobs.find(({ data }: Json) => data.tasks.some(({ task }: Json) => task === due[0]?.id))
      expect(job.data).toMatchObject({ count: 2, tasks: [{ target: 'https://a.example' }, { task: due[1]?.id }] })
    })

  it('replays a dead letter as a new task, once, and records it', async () => {
    const task = await aLetter()
    const shown = await see('dead-letter')
    const job = shown.jobs.find(({ id }: Json) => id === task)
    expect(job).toMatchObject({ failedReason: reason, attempts: 3, isFailed: true })
    const retry = () => api.send('PUT', `${letters}/${task}/retry`, undefined, operator)
    const answers = await Promise.all([retry(), retry(), retry()])
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409, 409])
    expect(await replaysOf(task)).toMatchObject([{ state: 'pending', attempts: 0 }])
    expect((await see('dead-letter')).jobs.map(({ id }: Json) => id)).not.toContain(task)
    const session = { Authorization: `Bearer ${api.caller.token}` }
    const log = `/api/v1/organizations/${api.caller.organizationId}/audit-log?object_id=${task}`
    expect((await api.send('GET', log, undefined, session)).body.data).toMatchObject([
      { action: 'dead_letter.replayed', actor: { user_id: null, api_key_id: null }, details: { by: 'operator' } },
    ])
  })

  it('replays all at once, and discards one or all', async () => {
    const [first, second, third] = [await aLetter(), await aLetter(), await aLetter()]
    expect((await api.send('PUT', `${letters}/${third}/clean`, undefined, operator)).status).toBe(204)
    const all = await api.send('PUT', `${letters}/retry/failed`, undefined, operator)
    expect(all.body).toEqual({ retried: 2, skipped: 0 })
    expect(
      [await replaysOf(first), await replaysOf(second), await replaysOf(third)].map(({ length }) => length),
    ).toEqual([1, 1, 0])
    expect((await see('dead-letter')).jobs).toEqual([])
    const fourth = await aLetter()
    expect((await api.send('PUT', `${letters}/clean/failed`, undefined, operator)).status).toBe(200)
    expect((await see('dead-letter')).jobs).toEqual([])
    expect(await replaysOf(fourth)).toEqual([])
  })

  it.each([
    ['PUT', `${board}/api/queues/dispatch/empty`],
    ['PUT', `${board}/api/queues/dispatch/pause`],
    ['PUT', `${board}/api/queues/pause`],
    ['PUT', `${letters}/obliterate`],
    ['POST', `${letters}/add`],
    ['PATCH', `${letters}/task_x/update-data`],
  ])('changes nothing else: %s %s', async (method, path) => {
    expect((await api.send(method, path, {}, operator)).status).toBe(405)
  })

  it('refuses changes that another site starts in a browser', async () => {
    const task = await aLetter()
    const foreign = [{ Origin: 'https://evil.example' }, { Origin: 'null' }, { 'Sec-Fetch-Site': 'cross-site' }]
    for (const headers of foreign) {
      const answer = await api.send('PUT', `${letters}/${task}/retry`, undefined, { ...operator, ...headers })
      expect(answer.status).toBe(403)
    }
    const own = { Origin: api.url, 'Sec-Fetch-Site': 'same-origin' }
    expect((await api.send('PUT', `${letters}/${task}/retry`, undefined, { ...operator, ...own })).status).toBe(204)
  })
})

describe('signing in as operator', () => {
  const api = useApi({ OPERATOR_PASSWORD: password })

  it.each([{}, basic('operator', 'wrong'), basic('admin', password), { Authorization: 'Basic %%%' }])(
    'rejects the credentials %j',
    async headers => {
      for (const path of [board, `${board}/api/queues`, `${board}/static/favicon.ico`]) {
        const answer = await api.send('GET', path, undefined, headers)
        expect(answer.status).toBe(401)
        expect(answer.headers.get('www-authenticate')).toContain('Basic realm="Belfry operators"')
      }
    },
  )

  it('blocks an address after wrong passwords, also with the right one, and no other address', async () => {
    const from = (address: string, word: string) =>
      api.send('GET', board, undefined, { ...basic('operator', word), 'X-Forwarded-For': address })
    const guesses = await Promise.all(Array.from({ length: 15 }, (_, i) => from('198.51.100.7', `guess ${i}`)))
    expect(guesses.map(({ status }) => status).sort()).toEqual([...Array(10).fill(401), ...Array(5).fill(429)])
    expect((await from('198.51.100.7', password)).status).toBe(429)
    expect((await from('203.0.113.9', password)).status).toBe(200)
  })
})

describe('hosts with an open circuit breaker', () => {
  const api = useApi({ OPERATOR_PASSWORD: password })
  const host = 'hooks.example.com:8080'
  const path = () => `/admin/hosts/${api.caller.workspaceId}/${encodeURIComponent(host)}`
  const rest = (dispatcher: string, restMs: number) => {
    const workspaceId = fromId('ws', api.caller.workspaceId) ?? ''
    return publishCircuits(api.db, dispatcher, [{ workspaceId, host, openForMs: restMs }])
  }

  it('are listed once for all dispatchers, and reset on request', async () => {
    expect((await api.send('GET', '/admin/hosts', undefined, operator)).body).toEqual({ data: [] })
    expect((await api.send('DELETE', path(), undefined, operator)).status).toBe(404)
    const [first, second] = [(await enterDispatchers(api.db)).id, (await enterDispatchers(api.db)).id]
    await rest(first, -1_000)
    const list = async () => (await api.send('GET', '/admin/hosts', undefined, operator)).body.data
    const about = { workspace_id: api.caller.workspaceId, host }
    expect(await list()).toMatchObject([{ ...about, state: 'probing', dispatchers: 1 }])
    await rest(first, 20_000)
    await rest(second, 30_000)
    expect(await list()).toMatchObject([{ ...about, state: 'resting', dispatchers: 2 }])
    const ended = await api.send('DELETE', path(), undefined, operator)
    expect([ended.status, ended.body]).toEqual([202, { dispatchers: 2 }])
    expect(await list()).toEqual([])
    const session = { Authorization: `Bearer ${api.caller.token}` }
    const log = `/api/v1/organizations/${api.caller.organizationId}/audit-log?action=host.reset`
    expect((await api.send('GET', log, undefined, session)).body.data).toMatchObject([{ object_id: host }])
  })

  it('are visible to operators only, and changed only by their own pages', async () => {
    expect((await api.send('GET', '/admin/hosts')).status).toBe(401)
    expect((await api.send('DELETE', path())).status).toBe(401)
    const foreign = { ...operator, Origin: 'https://evil.example' }
    expect((await api.send('DELETE', path(), undefined, foreign)).status).toBe(403)
    expect((await api.send('DELETE', '/admin/hosts/ws_x/y', undefined, operator)).status).toBe(404)
    expect((await api.send('POST', '/admin/hosts', {}, operator)).status).toBe(405)
  })
})

describe('without an operator password', () => {
  const api = useApi()

  it('there is no board', async () => {
    for (const path of [board, `${board}/`, `${board}/api/queues`, '/admin/hosts']) {
      expect((await api.send('GET', path, undefined, operator)).status).toBe(404)
    }
  })
})
