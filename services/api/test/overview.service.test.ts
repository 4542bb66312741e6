import { foldRunChanges } from '@belfry/db/run-statistics/fold-run-changes'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { storeRuns } from './run-rows.ts'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi()
const minute = 60_000
const path = '/api/v1/scheduler/overview'

/** Tests of other files may have left changes in the database. */
async function foldAll(): Promise<void> {
  while ((await foldRunChanges(api.db, 1_000)) > 0);
}

describe('GET /overview', () => {
  it('counts runs and failures in buckets, with their lag', async () => {
    const caller = await api.signUp()
    const workspaceId = fromId('ws', caller.workspaceId) ?? ''
    const now = Date.now()
    const runs = Array.from({ length: 40 }, (_, i) => ({
      workspaceId,
      status: i % 4 === 0 ? ('failed' as const) : ('success' as const),
      responseStatus: i % 4 === 0 ? 503 : 200,
      startedAt: new Date(now - (i + 1) * minute),
    }))
    await storeRuns(api.db, [...runs, { workspaceId, startedAt: new Date(now - 100 * 60 * minute) }])
    await foldAll()
    const of = async (range: string) =>
      (await api.send('GET', `${path}?range=${range}`, undefined, { 'X-Api-Key': caller.apiKey })).body
    const hour = await of('1h')
    expect(hour.runs).toEqual({ total: 40, failed: 10 })
    expect(hour.lag).toEqual({ p50_ms: 0, p99_ms: 0 })
    expect(hour.buckets).toHaveLength(60)
    expect(hour.buckets.reduce((sum: number, bucket: Json) => sum + bucket.total, 0)).toBe(40)
    expect((await of('24h')).runs.total).toBe(40)
    expect((await of('7d')).runs.total).toBe(41)
    expect((await of('30d')).runs.total).toBe(41)
  })

  it('belongs to one workspace, and refuses other ranges', async () => {
    const other = await api.signUp()
    await storeRuns(api.db, [{ workspaceId: fromId('ws', other.workspaceId) ?? '' }])
    await foldAll()
    expect((await api.call('GET', path)).body.runs).toEqual({ total: 0, failed: 0 })
    expect((await api.call('GET', `${path}?range=1y`)).body.errors).toMatchObject([{ path: 'range' }])
  })
})

describe('GET /runs/counts', () => {
  it('counts the runs of any time by outcome, in at most 61 whole buckets', async () => {
    const caller = await api.signUp()
    const workspaceId = fromId('ws', caller.workspaceId) ?? ''
    const now = Math.floor(Date.now() / minute) * minute
    const at = (minutes: number) => new Date(now - minutes * minute)
    await storeRuns(api.db, [
      { workspaceId, startedAt: at(3) },
      { workspaceId, startedAt: at(3), status: 'failed', responseStatus: 500 },
      { workspaceId, startedAt: at(10 * 60) },
      { workspaceId, startedAt: at(20 * 24 * 60) },
    ])
    await foldAll()
    const of = async (query: string) =>
      (await api.send('GET', `/api/v1/scheduler/runs/counts${query}`, undefined, { 'X-Api-Key': caller.apiKey })).body
    const counted = ({ buckets }: Json) => buckets.filter(({ total }: Json) => total > 0)
    const summary = (body: Json) => [body.bucket_ms / minute, counted(body).map((one: Json) => [one.total, one.failed])]

    expect(summary(await of(''))).toEqual([
      30,
      [
        [1, 0],
        [2, 1],
      ],
    ])
    const short = await of(`?from=${at(4).toISOString()}&to=${at(2).toISOString()}`)
    expect(short).toMatchObject({ from: at(4).toISOString(), to: at(2).toISOString() })
    expect(summary(short)).toEqual([1, [[2, 1]]])
    expect(counted(short)[0].at).toBe(at(3).toISOString())
    // Statistics per minute are deleted after eight days.
    expect(
      summary(await of(`?from=${at(20 * 24 * 60 + 5).toISOString()}&to=${at(20 * 24 * 60 - 5).toISOString()}`)),
    ).toEqual([60, [[1, 0]]])
    const long = await of('?from=2020-01-01T00:00:00Z')
    expect(long.buckets.length).toBeLessThanOrEqual(61)
    // A run of ten hours ago may be in the bucket of yesterday.
    const sum = (of: 'total' | 'failed') => counted(long).reduce((all: number, one: Json) => all + one[of], 0)
    expect([sum('total'), sum('failed')]).toEqual([4, 1])
    expect(counted(long)[0]).toMatchObject({ total: 1, failed: 0 })
    expect(Date.parse(long.from)).toBeGreaterThan(now - 34 * 24 * 60 * minute)
    expect((await of('?from=2100-01-01T00:00:00Z')).buckets).toEqual([])
    expect(counted((await api.call('GET', '/api/v1/scheduler/runs/counts')).body)).toEqual([])
  })
})

describe('GET /overview with 100,000 runs', () => {
  it('counts all of them in every range, with the same percentiles of lag, and sees that the latest fail', async () => {
    const { apiKey, workspaceId } = await api.signUp()
    const id = fromId('ws', workspaceId) ?? ''
    // The latest 1,000 fail, and 5,000 others start 90 s late.
    await api.db.query(
      `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
       SELECT uuid_v7(at), $1, gen_random_uuid(), 1, 'task', (CASE WHEN n <= 1000 THEN 'failed' ELSE 'success' END)::run_status,
              at - (CASE WHEN n BETWEEN 20000 AND 24999 THEN 90000 ELSE 12 END) * interval '1 ms', at, at
       FROM generate_series(1, 100000) n, LATERAL (SELECT now() - n * interval '25 ms' AS at) t`,
      [id],
    )
    await foldAll()
    const of = async (range: string) =>
      (await api.send('GET', `${path}?range=${range}`, undefined, { 'X-Api-Key': apiKey })).body
    const ranges = await Promise.all(['1h', '24h', '7d', '30d'].map(of))
    for (const { runs, lag } of ranges) {
      expect(runs).toEqual({ total: 100_000, failed: 1_000 })
      expect(lag).toEqual(ranges[0]?.lag)
      expect(Math.abs(lag.p50_ms - 12)).toBeLessThanOrEqual(1)
      expect(Math.abs(lag.p99_ms - 90_000)).toBeLessThan(9_000)
    }
    const failed = ranges[0]?.buckets.slice(-2).reduce((sum: number, bucket: Json) => sum + bucket.failed, 0)
    expect(failed).toBe(1_000)
  })
})

describe('GET /upcoming', () => {
  it('counts waiting tasks and the occurrences of cron jobs that are not tasks yet', async () => {
    const { apiKey } = await api.signUp()
    const send = (method: string, to: string, body?: unknown) =>
      api.send(method, `/api/v1/scheduler${to}`, body, { 'X-Api-Key': apiKey })
    const at = new Date(Date.now() + 30 * minute).toISOString()
    const task = (await send('POST', '/tasks', aTaskBody({ name: 'Soon', execute_at: at }))).body
    const cron = { name: 'Hourly', cron: '0 * * * *', url: 'https://example.com/hook', method: 'POST' }
    const job = (await send('POST', '/cronjobs', cron)).body
    const paused = (await send('POST', '/cronjobs', { ...cron, name: 'Paused' })).body
    await send('POST', `/cronjobs/${paused.id}/pause`)
    const { status, body } = await send('GET', '/upcoming')
    expect(status).toBe(200)
    const sum = (buckets: Json[]) => buckets.reduce((total, { count }) => total + count, 0)
    expect([body.hour.length, sum(body.hour), body.day.length, sum(body.day)]).toEqual([12, 2, 24, 25])
    expect(body.next).toContainEqual({ at, task_id: task.id, cronjob_id: null, name: 'Soon' })
    expect(body.next.filter((one: Json) => one.cronjob_id === job.id)).toHaveLength(9)
    expect([body.overdue, body.is_capped]).toEqual([0, false])
    // The last hour of the coming week.
    const from = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 167 * 3_600_000)
    const late = (await send('GET', `/upcoming?from=${from.toISOString()}&hours=1&limit=1000`)).body
    expect(late.day).toEqual([{ at: from.toISOString(), count: 1 }])
    expect(late.next).toEqual([{ at: from.toISOString(), task_id: null, cronjob_id: job.id, name: 'Hourly' }])
    const week = (await send('GET', '/upcoming?hours=168')).body
    expect([week.day.length, sum(week.day)]).toEqual([168, 169])
    const refused = (await send('GET', '/upcoming?hours=169&limit=0')).body
    expect(refused.errors.map((error: Json) => error.path)).toEqual(['hours', 'limit'])
  })
})

describe('GET /upcoming with 1,000 cron jobs', () => {
  it('counts every occurrence, those that are tasks already included', async () => {
    const { apiKey } = await api.signUp()
    const send = (method: string, to: string, body?: unknown) =>
      api.send(method, `/api/v1/scheduler${to}`, body, { 'X-Api-Key': apiKey })
    const cron = { name: 'Each minute', cron: '* * * * *', url: 'https://example.com/hook', method: 'POST' }
    const { id } = (await send('POST', '/cronjobs', cron)).body
    const uuid = fromId('cron', id)
    await api.db.query(
      `INSERT INTO cron_jobs SELECT (jsonb_populate_record(job, jsonb_build_object('id', gen_random_uuid(),
         'next_run_at', date_trunc('minute', now()) + interval '1 minute'))).*
       FROM cron_jobs job, generate_series(1, 999) WHERE job.id = $1`,
      [uuid],
    )
    const { body } = await send('GET', '/upcoming')
    expect(body.is_capped).toBe(false)
    expect(new Set(body.day.map((bucket: Json) => bucket.count))).toEqual(new Set([60_000]))
    expect(new Set(body.hour.map((bucket: Json) => bucket.count))).toEqual(new Set([5_000]))
    expect(body.next).toHaveLength(10)
    const from = new Date(Math.ceil(Date.now() / 60_000) * 60_000 + 86_400_000).toISOString()
    const { next, day } = (await send('GET', `/upcoming?from=${from}&hours=168&limit=1000`)).body
    expect(new Set(next.map(({ at }: Json) => at))).toEqual(new Set([from]))
    expect(new Set(next.map(({ cronjob_id }: Json) => cronjob_id)).size).toBe(1_000)
    expect(day.reduce((total: number, { count }: Json) => total + count, 0)).toBe(168 * 60_000)
  })
})

describe('GET /cronjobs/recent-runs', () => {
  it('gives the latest runs of each cron job, oldest first, and none of another workspace', async () => {
    const caller = await api.signUp()
    const workspaceId = fromId('ws', caller.workspaceId) ?? ''
    const [busy, idle, strange] = [newUuid(), newUuid(), newUuid()]
    const start = Date.now() - 60 * minute
    const seeds = Array.from({ length: 30 }, (_, i) => ({
      workspaceId,
      source: 'cron' as const,
      cronJobId: busy,
      status: i === 29 ? ('failed' as const) : ('success' as const),
      startedAt: new Date(start + i * minute),
    }))
    await storeRuns(api.db, [...seeds, { workspaceId: newUuid(), source: 'cron', cronJobId: strange }])
    const query = [busy, idle, strange].map(id => `cronjob_id=${toId('cron', id)}`).join('&')
    const path = `/api/v1/scheduler/cronjobs/recent-runs?${query}`
    const { body } = await api.send('GET', path, undefined, { 'X-Api-Key': caller.apiKey })
    expect(body.data.map((one: Json) => one.runs.length)).toEqual([24, 0, 0])
    expect(body.data[0].runs.at(-1)).toMatchObject({ status: 'failed', duration_ms: 5 })
  })
})
