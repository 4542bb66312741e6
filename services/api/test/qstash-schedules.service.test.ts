import { expect, it } from 'vitest'
import { type Caller, useApi } from './setup.ts'

// The replacements are more requests in a second than a key may send.
const api = useApi({ QSTASH_API: 'on', RATE_LIMITS: 'off' })
const target = 'https://example.com/hook'

const as =
  (caller: Caller) =>
  (method: string, path: string, body?: string, headers: Record<string, string> = {}) =>
    api.send(method, path, body, { Authorization: `Bearer ${caller.apiKey}`, ...headers })

it('keeps one schedule for each id, also for concurrent requests', async () => {
  const call = as(await api.signUp())
  const headers = { 'Upstash-Cron': '0 0 1 1 *', 'Upstash-Schedule-Id': 'mine' }
  const create = (_: unknown, i: number) => call('POST', `/v2/schedules/${target}/${i}`, '', headers)
  const answers = await Promise.all(Array.from({ length: 8 }, create))
  expect(answers.map(({ status, body }) => [status, body.scheduleId])).toEqual(Array(8).fill([201, 'mine']))
  expect((await call('GET', '/v2/schedules')).body).toHaveLength(1)
})

it('replaces a cron job that was not created as a schedule, by the id that the list has', async () => {
  const caller = await api.signUp()
  const call = as(caller)
  const job = { name: 'native', cron: '0 0 1 1 *', timezone: 'UTC', url: `${target}/native`, method: 'POST' }
  await api.send('POST', '/api/v1/scheduler/cronjobs', job, { 'X-Api-Key': caller.apiKey })
  const [{ scheduleId }] = (await call('GET', '/v2/schedules')).body
  await call('POST', `/v2/schedules/${target}`, '', { 'Upstash-Cron': '0 1 1 1 *', 'Upstash-Schedule-Id': scheduleId })
  expect((await call('GET', '/v2/schedules')).body).toMatchObject([{ scheduleId, destination: target }])
})

const options: ReadonlyArray<Record<string, string>> = [
  { 'Upstash-Cron': 'CRON_TZ=Europe/Berlin 0 7 * * *' },
  { 'Upstash-Method': 'PUT' },
  { 'Upstash-Delay': '90s' },
  { 'Upstash-Retries': '0' },
  { 'Upstash-Retry-Delay': '1000' },
  { 'Upstash-Timeout': '7s' },
  { 'Upstash-Forward-X-Own': '1' },
  { 'Upstash-Callback': `${target}/done` },
  { 'Upstash-Failure-Callback': `${target}/failed` },
  { 'Upstash-Queue-Name': 'q' },
  { 'Upstash-Flow-Control-Key': 'k', 'Upstash-Flow-Control-Value': 'rate=1' },
  { 'Upstash-Label': 'a,b' },
  { 'Upstash-Redact-Fields': 'body' },
  { 'Content-Type': 'text/plain' },
]

const flowControl = 10 // not with the queue before it

it('replaces all of a schedule: nothing is left of the options and changes that it had', async () => {
  const caller = await api.signUp()
  const call = as(caller)
  const create = async (id: string, chosen: readonly number[], body: string) => {
    const given = chosen.filter(i => i !== flowControl || !chosen.includes(flowControl - 1)).map(i => options[i])
    const headers = Object.assign({ 'Upstash-Cron': '0 0 1 1 *', 'Upstash-Schedule-Id': id }, ...given)
    const { status, body: answer } = await call('POST', `/v2/schedules/${target}/${chosen.length % 2}`, body, headers)
    expect([headers, status, answer]).toEqual([headers, 201, { scheduleId: id }])
  }
  const read = async (id: string) => {
    const { rows } = await api.db.query(
      `SELECT to_jsonb(j) - '{id,qstash_id,created_at,updated_at,created_by,updated_by,void_before}'::text[]
              || jsonb_build_object('callbacks', callbacks::jsonb) AS row
       FROM cron_jobs j WHERE qstash_id = $1`,
      [id],
    )
    return JSON.parse(JSON.stringify(rows[0]?.row).replaceAll(id, 'ID'))
  }
  const indexes = options.map((_, i) => i)
  // Pairs of sets: all and none, and each option alone before and after all others.
  const cases = [
    [indexes, []],
    ...indexes.map(i => [indexes.filter(j => j !== i), [i]]),
    ...indexes.map(i => [[i], []]),
  ]
  for (const [n, [before = [], after = []]] of cases.entries()) {
    await create(`replaced-${n}`, before, 'before')
    const changed = { overlap: 'skip', catch_up: 'none', max_age_ms: 5_000, starts_at: '2026-01-01T00:00:00Z' }
    const { body: job } = await api.send('GET', '/api/v1/scheduler/cronjobs?limit=1', undefined, {
      'X-Api-Key': caller.apiKey,
    })
    await api.send('PATCH', `/api/v1/scheduler/cronjobs/${job.data[0].id}`, changed, { 'X-Api-Key': caller.apiKey })
    await create(`replaced-${n}`, after, n % 2 === 0 ? '' : 'after')
    await create(`fresh-${n}`, after, n % 2 === 0 ? '' : 'after')
    expect([n, await read(`replaced-${n}`)]).toEqual([n, await read(`fresh-${n}`)])
  }
})

it('shows a schedule whose time zone the API cannot read, without its next time', async () => {
  const call = as(await api.signUp())
  const headers = { 'Upstash-Cron': '0 0 1 1 *', 'Upstash-Schedule-Id': 'unreadable' }
  await call('POST', `/v2/schedules/${target}`, '', headers)
  await api.db.query(`UPDATE cron_jobs SET timezone = 'Mars/Base' WHERE qstash_id = 'unreadable'`)
  const { body } = await call('GET', '/v2/schedules')
  expect(body).toMatchObject([{ scheduleId: 'unreadable', cron: 'CRON_TZ=Mars/Base 0 0 1 1 *' }])
  expect(body[0]).not.toHaveProperty('nextScheduleTime')
})

it('shows the delay of a schedule in seconds, and refuses one of more than a year', async () => {
  const call = as(await api.signUp())
  const create = (delay: string) =>
    call('POST', `/v2/schedules/${target}`, '', {
      'Upstash-Cron': '0 0 1 1 *',
      'Upstash-Schedule-Id': 'mine',
      'Upstash-Delay': delay,
    })
  expect((await create('1m30s')).status).toBe(201)
  expect((await call('GET', '/v2/schedules/mine')).body).toMatchObject({ delay: 90 })
  expect((await create('0s')).status).toBe(201)
  expect((await call('GET', '/v2/schedules/mine')).body).not.toHaveProperty('delay')
  expect((await create('366d')).status).toBe(400)
})
