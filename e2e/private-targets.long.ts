import { randomUUID } from 'node:crypto'
import { freePort } from '@belfry/embedded'
import { privateUrls, queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'
const [backend = 'postgres'] = queueBackends()

let belfry: Belfry
let canary: Receiver
beforeAll(async () => {
  belfry = await startBelfry(backend, { env: { ALLOWED_PRIVATE_TARGETS: '' } })
})
afterAll(() => belfry?.close())
beforeEach(async () => {
  canary = await startReceiver()
})
afterEach(() => canary.close())

it('does not call a private address that was written to the database', async () => {
  const runs = await runAll(belfry, privateUrls(canary.port))
  const codes = new Map(runs.map(({ url, error_code }) => [url, error_code]))
  const called = [...codes].filter(([, code]) => code !== 'blocked_address' && code !== 'invalid_response')
  // An unknown name leads nowhere. A backslash ends a host, so the host of that URL is example.com.
  expect(called.filter(([url, code]) => code !== 'dns' || !/localhost|example\.com/i.test(url))).toEqual([])
  expect([...codes.values()].filter(code => code === 'blocked_address').length).toBeGreaterThan(90)
  expect(canary.connections()).toBe(0)
})

it('does not call a private address of a subscription or a cron job in the database', async () => {
  const { call, databaseUrl } = belfry
  const urls = privateUrls(canary.port)
  const database = new pg.Client(databaseUrl)
  await database.connect()
  try {
    const request = { url: 'https://example.com/', retry: { max_retries: 0 } }
    for (const i of urls.keys()) {
      await call('POST', '/api/v1/scheduler/subscriptions', { ...request, topic: `url.${i}` })
    }
    await database.query(`UPDATE subscriptions SET url = ($1::text[])[split_part(topic, '.', 2)::int + 1]`, [urls])
    const cron = { ...request, name: 'A cron job', method: 'POST', cron: '0 0 1 1 *' }
    const { id } = (await call('POST', '/api/v1/scheduler/cronjobs', cron)).body
    for (const [i, url] of urls.entries()) {
      await database.query('UPDATE cron_jobs SET url = $1', [url])
      const triggered = await call('POST', `/api/v1/scheduler/cronjobs/${id}/trigger`)
      const published = await call('POST', '/api/events', { topic: `url.${i}`, payload: {} })
      expect([triggered.status, published.status, published.body.tasks.length]).toEqual([201, 202, 1])
    }
    const { rows } = await waitFor(
      () =>
        database.query<{ source: string; error_code: string }>(
          `SELECT source, error_code FROM runs WHERE source IN ('cron', 'event')`,
        ),
      found => found.rows.length === 2 * urls.length,
      30_000,
    )
    for (const source of ['cron', 'event']) {
      const codes = rows.filter(row => row.source === source).map(({ error_code }) => error_code)
      expect(codes.filter(code => code === 'blocked_address').length).toBeGreaterThan(90)
    }
    expect(canary.connections()).toBe(0)
  } finally {
    await database.end()
  }
}, 90_000)

it('does not call its own listeners in an allowed range, but calls other targets there', async () => {
  const [healthPort, ownPort] = [await freePort(), await freePort()]
  await belfry.services.find(({ name }) => name === 'dispatcher')?.stop()
  const dispatcher = await belfry.start('dispatcher', {
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    METRICS_PORT: String(healthPort),
    SMTP_URL: `smtp://localhost:${ownPort}`,
    MAIL_FROM: 'belfry@example.com',
  })
  const places = [belfry.databaseUrl, belfry.redisUrl, belfry.url].flatMap(url => (url ? [new URL(url).port] : []))
  const ports = [...places, String(healthPort), String(ownPort)]
  const hosts = ['127.0.0.1', '127.0.0.2', 'localhost', '[::ffff:127.0.0.1]']
  const urls = ports.flatMap(port => hosts.map(host => `http://${host}:${port}/`))
  const runs = await runAll(belfry, [...urls, canary.url('/')])
  expect(runs.filter(({ error_code }) => error_code !== 'blocked_address').map(({ url }) => url)).toEqual([
    canary.url('/'),
  ])
  expect(canary.requests).toHaveLength(1)
  const ready = await fetch(`http://127.0.0.1:${healthPort}/readyz`)
  expect(await ready.json()).toMatchObject({ egress: { allowed_private_targets: ['127.0.0.0/8'], proxy: null } })
  expect(dispatcher.output).toMatch(/"allowed_private_targets":\["127.0.0.0\/8"\].*"egress.rules"/)
})

/** Runs a task for each URL. Writes the URLs to the database, past the checks of the API. */
async function runAll({ call, databaseUrl }: Belfry, urls: string[]) {
  const database = new pg.Client(databaseUrl)
  await database.connect()
  try {
    const body = { method: 'POST', execute_at: inMs(4_000), url: 'https://example.com/', retry: { max_retries: 0 } }
    const round = randomUUID()
    const rounds = `split_part(name, ' ', 1) = $1`
    const created = await call('POST', `${tasks}/batch`, {
      tasks: urls.map((_, i) => ({ ...body, name: `${round} ${i}` })),
    })
    expect(created.body.data.filter(({ error }: { error?: unknown }) => error)).toEqual([])
    const update = `UPDATE task_requests SET url = ($2::text[])[split_part(name, ' ', 2)::int + 1] WHERE ${rounds}`
    await database.query(update, [round, urls])
    const text = `SELECT url, error_code FROM runs JOIN task_requests USING (task_id) WHERE ${rounds}`
    const { rows } = await waitFor(
      () => database.query<{ url: string; error_code: string }>(text, [round]),
      found => found.rows.length === urls.length,
      20_000,
    )
    return rows
  } finally {
    await database.end()
  }
}
