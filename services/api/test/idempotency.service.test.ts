import { queueBackends, testRedisUrl } from '@belfry/test-support'
import { describe, expect, it } from 'vitest'
import { aTaskBody, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'
const cronJobs = '/api/v1/scheduler/cronjobs'
const events = '/api/events'
const aCronJob = { name: 'A cron job', url: 'https://example.com/', method: 'POST', cron: '* * * * *' }
const anEvent = { topic: 'a', payload: {}, target_url: 'https://example.com/' }

let keys = 0
const newKey = () => `key-${++keys}`
const post = (path: string, key: string, body: unknown, apiKey = api.caller.apiKey) =>
  api.send('POST', path, body, { 'X-Api-Key': apiKey, 'Idempotency-Key': key })
const ageBy = (hours: number, key: string) =>
  api.db.query(`UPDATE idempotency_keys SET created_at = created_at - $1 * interval '1 hour' WHERE key = $2`, [
    hours,
    key,
  ])

describe('works', () => {
  it.each([
    ['tasks', tasks, aTaskBody({ payload: { n: 1 } }), 'tasks', 1],
    ['cron jobs', cronJobs, aCronJob, 'cron_jobs', 1],
    ['events', events, anEvent, 'tasks', 1],
    ['events without a subscription', events, { topic: 'a', payload: {} }, 'tasks', 0],
  ])('gives the first answer again, to the byte: %s', async (_what, path, body, table, rows) => {
    const key = newKey()
    const before = await api.count(table)
    const first = await post(path, key, body)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    const second = await post(path, key, body)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect([second.status, second.text]).toEqual([first.status, first.text])
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
    expect(await api.count(table)).toBe(before + rows)
  })

  it.each([
    [tasks, { connection: 'crm' }],
    [tasks, { labels: ['a'] }],
    [tasks, { expires_at: '2099-01-02T00:00:00.000Z' }],
  ])('stores what the answer shows: %s %j', async (path, fields) => {
    const { status, body } = await post(path, newKey(), aTaskBody({ execute_at: '2099-01-01T00:00:00Z', ...fields }))
    expect([status, body]).toEqual([201, expect.objectContaining(fields)])
    expect((await api.call('GET', `${tasks}/${body.id}`)).body).toEqual(body)
  })

  it('has the local time of a task that is due at once, because its time has passed', async () => {
    const [key, timezone] = [newKey(), 'Asia/Kolkata']
    const body = aTaskBody({ execute_at: '2020-01-01T00:00:00', timezone, on_past: 'run' })
    const first = await post(tasks, key, body)
    expect([first.status, first.body]).toEqual([201, expect.objectContaining({ timezone })])
    const localMs = Date.parse(first.body.execute_at) + 5.5 * 3_600_000
    expect(first.body.local_time.slice(0, 16)).toBe(new Date(localMs).toISOString().slice(0, 16))
    expect((await post(tasks, key, body)).text).toBe(first.text)
  })

  it('repeats it also after the created object has changed', async () => {
    const [key, body] = [newKey(), aTaskBody()]
    const first = await post(tasks, key, body)
    await api.call('DELETE', `${tasks}/${first.body.id}`)
    expect((await post(tasks, key, body)).text).toBe(first.text)
  })

  it('makes one task for 20 equal concurrent requests', async () => {
    const before = await api.count('tasks')
    const [key, body] = [newKey(), aTaskBody()]
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(tasks, key, body)))
    expect(await api.count('tasks')).toBe(before + 1)
    const made = answers.filter(({ status }) => status === 201)
    expect(new Set(made.map(({ text }) => text)).size).toBe(1)
    expect(made.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
    for (const { status, body } of answers) {
      if (status !== 201) expect([status, body.code]).toEqual([409, 'idempotency_in_progress'])
    }
  })

  it('accepts many concurrent requests with different keys', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => post(tasks, newKey(), aTaskBody())))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(40)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  })

  it('keeps a response for 24 hours, and then accepts the key for another request', async () => {
    const key = newKey()
    const first = await post(tasks, key, aTaskBody())
    await ageBy(23.9, key)
    expect((await post(tasks, key, aTaskBody({ name: 'Other' }))).status).toBe(409)
    await ageBy(0.2, key)
    const other = await post(tasks, key, aTaskBody({ name: 'Other' }))
    expect([other.status, other.headers.get('idempotent-replayed')]).toEqual([201, null])
    expect(other.body.id).not.toBe(first.body.id)
    expect((await post(tasks, key, aTaskBody({ name: 'Third' }))).status).toBe(409)
  })

  it('does not use up the key of a refused request', async () => {
    const key = newKey()
    expect((await post(tasks, key, aTaskBody({ url: 'nope' }))).status).toBe(400)
    expect((await post(tasks, key, aTaskBody({ execute_at: '2020-01-01T00:00:00Z' }))).status).toBe(400)
    expect((await post(tasks, key, aTaskBody())).status).toBe(201)
  })
})

describe('refuses', () => {
  it('the same key with another body or for another path', async () => {
    const [key, body] = [newKey(), aTaskBody()]
    await post(tasks, key, body)
    const before = await api.count('tasks')
    for (const [path, other] of [
      [tasks, { ...body, name: 'Other' }],
      [tasks, ` ${JSON.stringify(body)}`],
      [events, anEvent],
    ] as const) {
      const { status, body: problem } = await post(path, key, other)
      expect([status, problem.code]).toEqual([409, 'idempotency_key_reused'])
    }
    expect(await api.count('tasks')).toBe(before)
  })

  it('all but one of 20 equal requests while that one is in progress', async () => {
    const [key, body] = [newKey(), aTaskBody()]
    const before = await api.count('tasks')
    const answers: number[] = []
    const holder = await api.db.connect()
    try {
      // Delays every insert of a task.
      await holder.query('BEGIN')
      await holder.query('LOCK TABLE tasks IN SHARE MODE')
      const requests = Array.from({ length: 20 }, async () => {
        const { status, body: problem } = await post(tasks, key, body)
        answers.push(status)
        if (status !== 201) expect([status, problem.code]).toEqual([409, 'idempotency_in_progress'])
      })
      await expect.poll(() => answers, { timeout: 4_000 }).toEqual(Array(19).fill(409))
      await holder.query('COMMIT')
      await Promise.all(requests)
    } finally {
      holder.release()
    }
    expect(answers.at(-1)).toBe(201)
    expect(await api.count('tasks')).toBe(before + 1)
    expect((await post(tasks, key, { ...body, name: 'Other' })).body.code).toBe('idempotency_key_reused')
  })

  it.each([
    ['an empty key', ''],
    ['a key with a space', 'a b'],
    ['a key of 256 characters', 'a'.repeat(256)],
    ['a key beyond ASCII', 'caf\u00e9'],
  ])('%s', async (_what, key) => {
    const { status, body } = await post(tasks, key, aTaskBody())
    expect([status, body.errors]).toMatchObject([400, [{ path: 'Idempotency-Key', code: 'invalid_value' }]])
  })
})

describe('permits', () => {
  it('every workspace its own keys', async () => {
    const [key, body] = [newKey(), aTaskBody()]
    const other = await api.signUp()
    const mine = await post(tasks, key, body)
    const theirs = await post(tasks, key, body, other.apiKey)
    expect(theirs.headers.get('idempotent-replayed')).toBeNull()
    expect(theirs.body.workspace_id).toBe(other.workspaceId)
    expect(theirs.body.id).not.toBe(mine.body.id)
  })
})

describe.each(queueBackends().filter(backend => backend === 'redis'))('schedules on %s', () => {
  const scheduling = useApi(() => ({ REDIS_URL: `${testRedisUrl()}/8` }))

  it('what was made once, after its commit', async () => {
    const headers = { 'X-Api-Key': scheduling.caller.apiKey, 'Idempotency-Key': newKey() }
    const body = aTaskBody({ execute_at: new Date(Date.now() + 120_000).toISOString() })
    const create = () => scheduling.send('POST', tasks, body, headers)
    const { pool, queue } = scheduling.ctx
    const jobs = async () => (await queue?.depth())?.delayed
    const holder = await pool.connect()
    try {
      await holder.query('BEGIN')
      await holder.query('LOCK TABLE tasks IN SHARE MODE')
      const first = create()
      const blocked = `
        SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE NOT granted AND relation = 'tasks'::regclass AND datname = current_database()`
      await expect.poll(async () => (await pool.query(blocked)).rowCount, { timeout: 10_000 }).toBe(1)
      expect(await jobs()).toBe(0)
      await holder.query('COMMIT')
      expect((await first).status).toBe(201)
    } finally {
      holder.release()
    }
    await expect.poll(jobs, { timeout: 10_000 }).toBe(1)
    expect((await create()).headers.get('idempotent-replayed')).toBe('true')
    expect(await jobs()).toBe(1)
  })
})
