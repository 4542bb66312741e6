import { fromId } from '@belfry/domain/id'
import { beforeEach, describe, expect, it } from 'vitest'
import { refusedExpressions } from './refused-expressions.ts'
import { type Json, useApi } from './setup.ts'

const api = useApi()
const path = '/api/v1/scheduler/cronjobs'
const minutely = { name: 'Every minute', url: 'https://example.com/hook', method: 'POST', cron: '* * * * *' }

// Responses are compared with each other, so no minute must begin between them.
beforeEach(() => expect.poll(() => new Date().getSeconds(), { timeout: 5000 }).toBeLessThan(58))

async function create(changes: Record<string, unknown> = {}): Promise<Json> {
  const { status, body } = await api.call('POST', path, { ...minutely, ...changes })
  expect(status).toBe(201)
  return body
}

async function tasksOf(job: Json): Promise<Json[]> {
  return (await api.call('GET', `/api/v1/scheduler/tasks?cronjob_id=${job.id}&limit=100`)).body.data
}

async function statesOf(job: Json): Promise<string[]> {
  return (await tasksOf(job)).map(({ state, state_reason }) => state_reason ?? state)
}

describe('works', () => {
  it('creates a cron job, with its next runs and its first occurrences as tasks', async () => {
    const answer = await api.call('POST', path, { ...minutely, timezone: 'Asia/Kathmandu' })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toBe(`${path}/${answer.body.id}`)
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^cron_[0-9a-z]{26}$/),
      ...{ workspace_id: api.caller.workspaceId, ...minutely, timezone: 'Asia/Kathmandu', headers: {}, payload: null },
      ...{ overlap: 'allow', catch_up: 'latest', starts_at: null, ends_at: null, status: 'active' },
      ...{ description: 'Every minute', notes: [], last_run: null, timeout_ms: 30_000 },
      retry: { max_retries: 5, backoff: 'exponential', base_delay_ms: 10_000, max_delay_ms: 3_600_000 },
    })
    const { next_runs, next_run_at } = answer.body
    expect(next_runs).toHaveLength(5)
    expect(next_run_at).toBe(next_runs[0])
    expect(next_runs.map((time: string) => Date.parse(time) % 60_000)).toEqual([0, 0, 0, 0, 0])
    const tasks = await tasksOf(answer.body)
    expect(
      tasks
        .map(({ execute_at }) => execute_at)
        .reverse()
        .slice(0, 5),
    ).toEqual(next_runs)
    for (const task of tasks) {
      expect(task).toMatchObject({ source: 'cron', cronjob_id: answer.body.id, state: 'pending', name: minutely.name })
    }
    expect((await api.call('GET', `${path}/${answer.body.id}`)).body).toEqual(answer.body)
  })

  it('keeps the payload’s text, also in the tasks', async () => {
    const payload = '{"n":12345678901234567890,"b":1.10,"a":[],"z":"\\u0000\\ud83d\\udc00\\ude00","\\udfff\\u0000":0}'
    const body = `{"name":"a","url":"https://example.com","method":"PUT","cron":"*  *\\t* * *","payload": ${payload}}`
    const created = await api.call('POST', path, body)
    expect(created.text).toContain(`"payload":${payload}`)
    expect(created.body.cron).toBe('* * * * *')
    const tasks = await api.call('GET', `/api/v1/scheduler/tasks?cronjob_id=${created.body.id}&limit=1`)
    expect(tasks.text).toContain(`"payload":${payload}`)
  })

  it('pauses: after the response nothing waits, and nothing is added until it is resumed', async () => {
    const job = await create()
    const paused = await api.call('POST', `${path}/${job.id}/pause`)
    expect(paused).toMatchObject({
      status: 200,
      body: { status: 'paused', next_run_at: null, next_runs: [], notes: [] },
    })
    const states = await statesOf(job)
    expect(states.length).toBeGreaterThanOrEqual(5)
    expect(new Set(states)).toEqual(new Set(['cronjob_paused']))
    expect((await api.call('POST', `${path}/${job.id}/pause`)).status).toBe(200)
    const resumed = await api.call('POST', `${path}/${job.id}/resume`)
    expect(resumed.body).toMatchObject({ status: 'active', next_run_at: resumed.body.next_runs[0] })
    const waiting = (await tasksOf(job)).filter(({ state }) => state === 'pending')
    expect(
      waiting
        .map(({ execute_at }) => execute_at)
        .reverse()
        .slice(0, 5),
    ).toEqual(resumed.body.next_runs)
    expect((await api.call('POST', `${path}/${job.id}/resume`)).body.updated_at).toBe(resumed.body.updated_at)
  })

  it('replaces the occurrences when the rule changes, and changes what they send otherwise', async () => {
    const job = await create()
    const before = (await tasksOf(job)).map(({ id }) => id)
    const renamed = await api.call('PATCH', `${path}/${job.id}`, { name: 'New', payload: { a: 1 }, timeout_ms: 5000 })
    expect(renamed.body).toMatchObject({ name: 'New', payload: { a: 1 }, timeout_ms: 5000, cron: '* * * * *' })
    const same = await tasksOf(job)
    expect(same.map(({ id }) => id)).toEqual(before)
    for (const task of same) expect(task).toMatchObject({ name: 'New', payload: { a: 1 }, timeout_ms: 5000 })
    const changed = await api.call('PATCH', `${path}/${job.id}`, { cron: '*/2 * * * *' })
    expect(changed.body.description).toBe('Every 2 minutes')
    const after = await tasksOf(job)
    const replaced = after.filter(({ state_reason }) => state_reason === 'cronjob_changed').map(({ id }) => id)
    expect(replaced).toEqual(before)
    const waiting = after.filter(({ state }) => state === 'pending').map(({ execute_at }) => execute_at)
    expect(waiting.reverse()).toEqual(changed.body.next_runs.slice(0, waiting.length))
    expect(waiting.length).toBeGreaterThan(1)
  })

  it('deletes: the occurrences are cancelled, the history stays', async () => {
    const job = await create()
    const deleted = await api.call('DELETE', `${path}/${job.id}`)
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    expect(new Set(await statesOf(job))).toEqual(new Set(['cronjob_deleted']))
    for (const [method, more] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/pause'],
      ['POST', '/trigger'],
    ] as const) {
      expect((await api.call(method, `${path}/${job.id}${more}`)).status).toBe(404)
    }
  })

  it('triggers a run for every request, also while paused', async () => {
    const job = await create({ cron: '0 0 1 1 *' })
    await api.call('POST', `${path}/${job.id}/pause`)
    const answers = await Promise.all([1, 2, 3].map(() => api.call('POST', `${path}/${job.id}/trigger`)))
    for (const { status, body, headers } of answers) {
      expect(status).toBe(201)
      expect(body).toMatchObject({ source: 'cron', cronjob_id: job.id, state: 'pending' })
      expect(headers.get('location')).toBe(`/api/v1/scheduler/tasks/${body.id}`)
      expect(Math.abs(Date.parse(body.execute_at) - Date.now())).toBeLessThan(5000)
    }
    expect(await tasksOf(job)).toHaveLength(3)
  })

  it('backfills a past time once, and refuses a future one and one with too many occurrences', async () => {
    const job = await create({ cron: '0 * * * *' })
    const to = new Date()
    const backfill = async (from: Date, more: object = {}) =>
      api.call('POST', `${path}/${job.id}/backfill`, { from, to, ...more })
    const ago = (hours: number) => new Date(to.getTime() - hours * 3_600_000)
    expect(await backfill(ago(5), { per_second: 10 })).toMatchObject({ status: 200, body: { created: 5, skipped: 0 } })
    const past = (await tasksOf(job)).filter(({ execute_at }) => Date.parse(execute_at) < to.getTime())
    expect(past.map(({ execute_at }) => execute_at.slice(14))).toEqual(past.map(() => '00:00.000Z'))
    expect(new Set(past.map(({ execute_at }) => execute_at)).size).toBe(5)
    expect((await backfill(ago(6))).body).toEqual({ created: 1, skipped: 5 })
    expect((await backfill(ago(2_000))).body.errors).toMatchObject([{ path: 'to', code: 'too_many' }])
    const fastClock = { to: new Date(Date.now() + 30_000) }
    expect((await backfill(ago(1), fastClock)).status, 'the present time by the clock of the caller').toBe(200)
    const future = await backfill(ago(1), { to: new Date(to.getTime() + 3_600_000) })
    expect(future.body.errors).toMatchObject([{ path: 'to', code: 'out_of_range' }])
  })

  it('refuses to backfill a time whose tasks may be in object storage', async () => {
    const job = await create({ cron: '0 0 1 1 *' })
    const id = fromId('cron', job.id)
    await api.db.query(`UPDATE cron_jobs SET cron = '0 * * * *', created_at = now() - interval '1 day' WHERE id = $1`, [
      id,
    ])
    await api.db.query(
      `INSERT INTO log_parts (id, workspace_id, day, part, state, object_key, first_run_id, last_run_id, first_task_id,
                              last_task_id, succeeded, failed, object_bytes, checksum)
       SELECT id, workspace_id, now(), 1, 'stored', 'a', run, run, run, run, 1, 0, 1, '' FROM cron_jobs, uuid_v7(now()) AS run WHERE id = $1`,
      [id],
    )
    const body = { from: new Date(Date.now() - 3 * 3_600_000), to: new Date() }
    const { status, body: problem } = await api.call('POST', `${path}/${job.id}/backfill`, body)
    await api.db.query('DELETE FROM log_parts WHERE id = $1', [id])
    expect([status, problem.errors]).toMatchObject([400, [{ path: 'from', code: 'out_of_range' }]])
    expect(await tasksOf(job)).toEqual([])
  })

  it('previews 50 runs, with clock changes', async () => {
    const body = { cron: '30 2 * * *', timezone: 'Europe/Berlin', from: '2027-03-26T12:00:00Z', count: 50 }
    expect((await api.call('POST', `${path}/preview`, body)).body.next_runs).toHaveLength(50)
    const preview = await api.call('POST', `${path}/preview`, { ...body, count: 3 })
    expect(preview.body).toEqual({
      description: 'At 02:30',
      next_runs: ['2027-03-27T01:30:00.000Z', '2027-03-28T01:00:00.000Z', '2027-03-29T00:30:00.000Z'],
      notes: [{ at: '2027-03-28T01:00:00.000Z', local: '2027-03-28T02:30', code: 'clock_gap' }],
    })
  })

  it('previews days that depend on the month', async () => {
    const { body } = await api.call('POST', `${path}/preview`, {
      ...{ cron: '0 9 L * MON#1,FRIL', timezone: 'Europe/Berlin', from: '2027-03-25T00:00:00Z', count: 4 },
    })
    expect(body).toMatchObject({
      description: expect.stringMatching(
        /^At 09:00 on the last day of the month or on the first Monday .* the last Friday/,
      ),
      next_runs: [
        '2027-03-26T08:00:00.000Z',
        '2027-03-31T07:00:00.000Z',
        '2027-04-05T07:00:00.000Z',
        '2027-04-30T07:00:00.000Z',
      ],
    })
  })

  it('ends at ends_at, begins at starts_at', async () => {
    const starts_at = '2090-01-01T00:00:00.000Z'
    const ends_at = '2090-01-01T00:03:00.000Z'
    const job = await create({ starts_at, ends_at })
    expect(job.next_runs).toEqual([starts_at, '2090-01-01T00:01:00.000Z', '2090-01-01T00:02:00.000Z'])
    expect(await tasksOf(job)).toEqual([])
    const soon = await create({ ends_at: '2099-01-01T00:00:00Z' })
    await api.db.query(
      `UPDATE cron_jobs SET ends_at = now() - interval '1 ms' WHERE name = $1 AND ends_at > '2098-01-01'`,
      [soon.name],
    )
    expect((await api.call('GET', `${path}/${soon.id}`)).body).toMatchObject({ status: 'ended', next_run_at: null })
    expect((await api.call('PATCH', `${path}/${soon.id}`, { ends_at: null })).body.status).toBe('active')
  })

  it.each([
    ['timezone', 'Mars/Base', '* * * * *'],
    ['cron', '@noon', '@noon'],
  ])('shows a cron job whose %s the API cannot read, without next runs', async (field, value, description) => {
    const job = await create({ name: 'unreadable' })
    await api.db.query(`UPDATE cron_jobs SET ${field} = $2 WHERE id = $1`, [fromId('cron', job.id), value])
    const unreadable = { [field]: value, description, status: 'active', next_run_at: null, next_runs: [], notes: [] }
    expect((await api.call('GET', `${path}?name=unreadable`)).body.data).toMatchObject([unreadable])
    expect((await api.call('GET', '/api/v1/scheduler/upcoming')).status).toBe(200)
    expect((await api.call('POST', `${path}/${job.id}/pause`)).status).toBe(200)
    expect((await api.call('DELETE', `${path}/${job.id}`)).status).toBe(204)
  })

  it('lists newest first, page by page, by status and by name', async () => {
    const jobs = [await create({ name: 'list a' }), await create({ name: 'list b' }), await create({ name: 'list c' })]
    await api.call('POST', `${path}/${jobs[1].id}/pause`)
    const namesIn = async (query: string) =>
      (await api.call('GET', `${path}?name=list&${query}`)).body.data.map(({ name }: Json) => name)
    expect(await namesIn('')).toEqual(['list c', 'list b', 'list a'])
    expect(await namesIn('status=paused')).toEqual(['list b'])
    expect(await namesIn('status=paused&status=active&limit=2')).toEqual(['list c', 'list b'])
    expect(await namesIn('host=other.example.com')).toEqual([])
    expect(await namesIn('host=Example.com&limit=2')).toEqual(['list c', 'list b'])
    expect(await namesIn('status=ended')).toEqual([])
    const first = await api.call('GET', `${path}?name=list&limit=2`)
    expect(await namesIn(`limit=2&cursor=${first.body.next_cursor}`)).toEqual(['list a'])
  })
})

describe('refuses', () => {
  it.each(refusedExpressions)('an expression, naming the field and the rule: %#', async (cron, reason) => {
    for (const [to, body] of [
      ['', minutely],
      ['/preview', {}],
    ] as const) {
      const answer = await api.call('POST', path + to, { ...body, cron })
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
      expect(answer.body.errors).toMatchObject([{ path: 'cron', message: expect.stringMatching(reason) }])
    }
  })

  it('an unknown time zone, and reports all errors at once', async () => {
    const wrong = {
      ...minutely,
      cron: '60 * * * *',
      timezone: 'Mars/Base',
      overlap: 'maybe',
      catch_up: 1,
      timeZone: 'x',
    }
    const answer = await api.call('POST', path, wrong)
    expect(answer.status).toBe(400)
    const codes = Object.fromEntries(answer.body.errors.map(({ path, code }: Json) => [path, code]))
    expect(codes).toEqual({
      ...{ cron: 'invalid_cron', timezone: 'unknown_timezone', overlap: 'invalid_value', catch_up: 'invalid_value' },
      timeZone: 'unknown_field',
    })
    expect(answer.body.errors.at(-1).message).toContain('"timezone"')
  })

  it('bounds without a run, on creation and on change', async () => {
    const never = { code: 'never_runs', path: 'ends_at' }
    const past = await api.call('POST', path, { ...minutely, ends_at: '2026-01-01T00:00:00Z' })
    expect(past).toMatchObject({ status: 400, body: { errors: [never] } })
    const bounds = { starts_at: '2090-01-02T00:00:00Z', ends_at: '2090-01-01T00:00:00Z' }
    expect((await api.call('POST', path, { ...minutely, ...bounds })).body.errors).toMatchObject([never])
    const job = await create({ cron: '0 0 1 1 *' })
    const change = await api.call('PATCH', `${path}/${job.id}`, { ends_at: new Date(Date.now() + 1000).toISOString() })
    expect(change).toMatchObject({ status: 400, body: { errors: [never] } })
    const impossible = await api.call('PATCH', `${path}/${job.id}`, { cron: '0 0 31 2 *' })
    expect(impossible).toMatchObject({ status: 400, body: { errors: [{ code: 'never_runs', path: 'cron' }] } })
    expect((await api.call('GET', `${path}/${job.id}`)).body).toEqual(job)
  })

  it('a private target, and a body that is missing a field', async () => {
    const target = await api.call('POST', path, { ...minutely, url: 'http://127.0.0.1/' })
    expect(target.body.errors).toMatchObject([{ path: 'url', code: 'blocked_address' }])
    const missing = await api.call('POST', path, { name: 'a' })
    expect(missing.body.errors.map(({ path }: Json) => path).sort()).toEqual(['cron', 'method', 'url'])
  })
})

describe('permits', () => {
  it('no other caller to see, change, run or delete a cron job', async () => {
    const job = await create()
    const stranger = await api.signUp()
    const as = { 'X-Api-Key': stranger.apiKey }
    const calls = [
      ['GET', ''],
      ['PATCH', '', { name: 'mine' }],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/trigger'],
      ['DELETE', ''],
    ] as const
    for (const [method, more, body] of calls) {
      expect((await api.send(method, `${path}/${job.id}${more}`, body, as)).status).toBe(404)
      expect((await api.send(method, `${path}/${job.id}${more}`, body)).status).toBe(401)
    }
    expect((await api.send('GET', path, undefined, as)).body.data).toEqual([])
    expect((await api.call('GET', `${path}/${job.id}`)).body).toEqual(job)
    expect((await api.call('GET', `${path}/cron_nonsense`)).status).toBe(404)
  })
})
