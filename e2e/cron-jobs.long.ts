import { freePort } from '@belfry/embedded'
import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Belfry, startBelfry } from './belfry.ts'

const cronJobs = '/api/v1/scheduler/cronjobs'
const yearly = '0 0 1 1 *'

describe.each(queueBackends())('a cron job, with the queue on %s', backend => {
  let belfry: Belfry
  let target: Receiver
  let db: pg.Client
  beforeAll(async () => {
    target = await startReceiver()
    const services = ['api', 'scheduler', 'scheduler', 'scheduler', 'dispatcher', 'dispatcher'] as const
    belfry = await startBelfry(backend, { services: [...services] })
    db = new pg.Client({ connectionString: belfry.databaseUrl })
    await db.connect()
  })
  afterAll(async () => {
    await db?.end()
    await belfry?.close()
    await target?.close()
  })

  const create = async (path: string, more: Record<string, unknown> = {}) => {
    const body = { name: path, url: target.url(path), method: 'POST', cron: yearly, ...more }
    const created = await belfry.call('POST', cronJobs, body)
    expect(created.status).toBe(201)
    return created.body
  }
  // To avoid waiting for a minute, the test moves the next occurrence in the database. Schedulers with nothing to do look every
  // 15 seconds, and no API call tells them of this change.
  const moveCursor = async (from: string) => {
    await db.query(`UPDATE cron_jobs SET next_run_at = ${from} WHERE paused_at IS NULL`)
  }
  const states = async (job: { id: string }): Promise<string[]> => {
    const { body } = await belfry.call('GET', `/api/v1/scheduler/tasks?cronjob_id=${job.id}&limit=100`)
    return body.data.map((task: { state: string; state_reason: string | null }) => task.state_reason ?? task.state)
  }
  const settled = (job: { id: string }, count: number) =>
    waitFor(
      () => states(job),
      all => all.length >= count && !all.some(state => ['pending', 'processing', 'retrying'].includes(state)),
      20_000,
    )

  it('fires once at its time with several schedulers and dispatchers, and names its cron job', async () => {
    const jobs = await Promise.all(Array.from({ length: 30 }, (_, i) => create(`/once/${i}`)))
    await moveCursor(`date_trunc('second', now()) + interval '17 seconds'`)
    const { rows } = await db.query('SELECT min(next_run_at) AS at FROM cron_jobs')
    const expanded = async () => (await db.query(`SELECT FROM tasks WHERE source = 'cron'`)).rowCount
    await waitFor(expanded, count => count === jobs.length, 20_000)
    for (const job of jobs) expect(await settled(job, 1)).toEqual(['success'])
    jobs.forEach((job, i) => {
      const [request, ...more] = target.requestsTo(`/once/${i}`)
      expect(more).toEqual([])
      expect(request?.rawHeaders[(request?.rawHeaders.indexOf('X-Belfry-Cronjob-Id') ?? 0) + 1]).toBe(job.id)
      expect(request?.receivedAt).toBeGreaterThanOrEqual(rows[0].at.getTime())
    })
    const { body } = await belfry.call('GET', `${cronJobs}/${jobs[0].id}`)
    expect(body).toMatchObject({ last_run: { status: 'success', response_status: 200 } })
    const runs = await belfry.call('GET', `/api/v1/scheduler/runs?cronjob_id=${jobs[0].id}`)
    expect(runs.body.data).toMatchObject([{ id: body.last_run.id, source: 'cron', cronjob_id: jobs[0].id }])
    await Promise.all(jobs.map(job => belfry.call('POST', `${cronJobs}/${job.id}/pause`)))
  })

  it('catches up after a time without schedulers according to catch_up, and records the rest', async () => {
    const modes = { latest: 1, all: 7, none: 0 }
    const jobs = await Promise.all(Object.keys(modes).map(catch_up => create(`/${catch_up}`, { catch_up })))
    const schedulers = belfry.services.filter(({ name }) => name === 'scheduler')
    await Promise.all(schedulers.map(scheduler => scheduler.stop('SIGKILL')))
    await db.query(`UPDATE cron_jobs SET cron = '* * * * *' WHERE paused_at IS NULL`)
    await moveCursor(`date_trunc('minute', now() - interval '11 seconds') - interval '6 minutes'`)
    await db.query("UPDATE cron_jobs SET ends_at = next_run_at + interval '6 minutes 1 second'")
    await Promise.all([1, 2, 3].map(() => belfry.start('scheduler')))
    for (const [i, [mode, runs]] of Object.entries(modes).entries()) {
      const all = await settled(jobs[i], 7)
      expect([mode, all]).toEqual([mode, [...Array(runs).fill('success'), ...Array(7 - runs).fill('missed')]])
      expect([mode, target.requestsTo(`/${mode}`).length]).toEqual([mode, runs])
    }
  })

  it('with overlap skip skips an occurrence while another one runs; with overlap allow it does not', async () => {
    for (const path of ['/skip', '/allow']) target.answer(path, { status: 200, delayMs: 4000 })
    const jobs = await Promise.all(['skip', 'allow'].map(overlap => create(`/${overlap}`, { overlap })))
    for (const delay of [0, 2]) {
      await db.query(`UPDATE cron_jobs SET next_run_at = now() + interval '${delay} seconds' WHERE id = ANY ($1)`, [
        (await db.query(`SELECT id FROM cron_jobs WHERE name IN ('/skip', '/allow')`)).rows.map(({ id }) => id),
      ])
      await waitFor(
        async () => (await Promise.all(jobs.map(states))).map(all => all.length),
        counts => counts.every(count => count === delay / 2 + 1),
        20_000,
      )
      await target.waitFor(requests => requests.some(({ path }) => path === '/skip'))
    }
    expect(await settled(jobs[0], 2)).toEqual(['overlap_skipped', 'success'])
    expect(await settled(jobs[1], 2)).toEqual(['success', 'success'])
    expect([target.requestsTo('/skip').length, target.requestsTo('/allow').length]).toEqual([1, 2])
  })

  it('that is paused makes no call, and a trigger calls at once', async () => {
    const job = await create('/paused')
    const other = await create('/not-paused')
    await moveCursor(`date_trunc('second', now()) + interval '17 seconds'`)
    await waitFor(
      () => states(job),
      all => all.length === 1,
      20_000,
    )
    const paused = await belfry.call('POST', `${cronJobs}/${job.id}/pause`)
    expect(paused.body).toMatchObject({ status: 'paused', next_runs: [] })
    expect(await settled(other, 1)).toEqual(['success'])
    expect(await states(job)).toEqual(['cronjob_paused'])
    expect(target.requestsTo('/paused')).toEqual([])
    const triggered = await belfry.call('POST', `${cronJobs}/${job.id}/trigger`)
    expect(triggered).toMatchObject({ status: 201, body: { source: 'cron', cronjob_id: job.id } })
    await target.waitFor(requests => requests.some(({ path }) => path === '/paused'))
  })

  it('/readyz of operators shows the version and age of the time zone rules, and no process logs them', async () => {
    const port = await freePort()
    await belfry.start('scheduler', { METRICS_PORT: String(port) })
    const response = await fetch(`http://127.0.0.1:${port}/readyz`)
    const version = expect.stringMatching(/^20\d\d[a-z]$/)
    expect(await response.json()).toMatchObject({ zone_data: { version, is_old: expect.any(Boolean) } })
    expect((await belfry.call('GET', '/readyz')).body).toEqual({ ready: true })
    expect(belfry.services.length).toBeGreaterThan(2)
    for (const { output } of belfry.services) expect(output).not.toContain('zone_data')
  })
})
