import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { callApi, createWorkspace } from '../api-calls.ts'
import { useBelfry } from '../belfry.ts'
import { startCli, startCommand } from './run-cli.ts'
import { shop } from './shop-configuration.ts'

vi.setConfig({ testTimeout: 60_000 })

const belfry = useBelfry('postgres')
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-configuration-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A workspace of its own, with the commands that act on it. */
async function aWorkspace() {
  const caller = await createWorkspace(belfry.url, belfry.caller)
  const cli = (args: string[], input?: string) => startCommand({ url: belfry.url, caller }, args, input).ended
  const lines = ({ out }: { out: string }) =>
    out
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line))
  const path = join(folder, `${Math.random()}.yaml`)
  const call = (method: string, url: string, body?: unknown) => callApi(belfry.url, caller, method, url, body)
  return {
    cli,
    call,
    /** Starts a command with the file. */
    start: (command: 'plan' | 'apply', ...args: string[]) =>
      startCommand({ url: belfry.url, caller }, [command, '-f', path, ...args]),
    /** Starts the published program with the file. */
    startProgram: (command: 'apply', url = belfry.url) => startCli({ url, caller }, [command, '-f', path]),
    /** Returns the changes that a text would make. */
    planOf: async (text: string, ...args: string[]) => lines(await cli(['plan', '-f', '-', ...args, '--json'], text)),
    /** The keys of the cron jobs. */
    async keys() {
      const all: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = cursor ? `&cursor=${cursor}` : ''
        const { body } = await call('GET', `/api/v1/scheduler/cronjobs?limit=100${query}`)
        all.push(...body.data.map(({ key }: { key: string }) => key))
        cursor = body.next_cursor
      }
      return all
    },
    write: (text: string) => writeFile(path, text),
    /** Runs a command with the file, and returns the changes that it prints. */
    async run(command: 'plan' | 'apply', ...args: string[]) {
      const ended = await cli([command, '-f', path, ...args, '--json'])
      expect([ended.code, ended.error]).toEqual([0, ''])
      return lines(ended)
    },
  }
}

const slack = ['--var', 'SLACK_URL=https://hooks.slack.com/services/secret']

describe('apply', () => {
  it('creates what the file declares, and changes nothing the second time', async () => {
    const { run, write, call } = await aWorkspace()
    await write(shop)
    const planned = await run('plan', ...slack)
    expect(planned.map(({ action, kind, key }) => [action, kind, key])).toEqual([
      ['create', 'queue', 'partner-api'],
      ['create', 'cron_job', 'shop/nightly-report'],
      ['create', 'cron_job', 'shop/cleanup'],
      ['create', 'subscription', 'shop/crm'],
      ['create', 'integration', 'shop/on-call'],
    ])
    expect((await call('GET', '/api/v1/scheduler/cronjobs')).body.data).toEqual([])
    expect(await run('apply', ...slack)).toHaveLength(5)
    const { data } = (await call('GET', '/api/v1/scheduler/cronjobs')).body
    expect(data).toHaveLength(2)
    expect(data.find(({ key }: { key: string }) => key === 'shop/nightly-report')).toMatchObject({
      name: 'nightly-report',
      method: 'POST',
      url: 'https://shop.example.com/report',
      payload: { kind: 'nightly', texts: ['a', 'b'] },
      retry: { max_retries: 5, backoff: 'exponential' },
      queue: 'partner-api',
      on_failure: { url: 'https://shop.example.com/failed' },
      status: 'active',
    })
    const cleanup = data.find(({ key }: { key: string }) => key === 'shop/cleanup')
    expect(cleanup).toMatchObject({ status: 'paused', starts_at: null, ends_at: '2030-01-01T00:00:00.000Z' })
    expect((await call('GET', `/api/v1/scheduler/tasks?cronjob_id=${cleanup.id}`)).body.data).toEqual([])
    const subscriptions = (await call('GET', '/api/v1/scheduler/subscriptions')).body.data
    expect(subscriptions).toMatchObject([
      {
        retry: { delays_ms: [0, 60_000] },
        filter: [
          { path: 'total', op: 'gte', value: 100.5 },
          { path: 'test', op: 'ne', value: true },
        ],
      },
    ])
    expect(await run('plan', ...slack)).toEqual([])
    expect(await run('apply', ...slack)).toEqual([])
    expect((await call('GET', '/api/v1/scheduler/cronjobs')).body.data).toEqual(data)
  })

  it('changes only the fields that differ, also those that were changed by hand', async () => {
    const { run, write, call } = await aWorkspace()
    await write(shop)
    await run('apply', ...slack)
    const list = async (path: string) => (await call('GET', path)).body.data
    const [report] = (await list('/api/v1/scheduler/cronjobs?name=nightly')) as [{ id: string }]
    await call('PATCH', `/api/v1/scheduler/cronjobs/${report.id}`, { timezone: 'UTC', queue: null })
    await call('POST', `/api/v1/scheduler/cronjobs/${report.id}/pause`)
    await write(
      shop
        .replace('max_concurrent: 3', 'max_concurrent: 4')
        .replace('topic: orders.*', 'topic: orders.paid')
        .replace('events: [task.dead, cronjob.failing]', 'events: [task.dead]')
        .replace(', paused: true', ''),
    )
    const changes = await run('apply', ...slack)
    const fieldsOf = (key: string) =>
      changes.find(change => change.key === key).differences.map(({ field }: { field: string }) => field)
    expect(changes.map(({ action, key }) => [action, key])).toHaveLength(5)
    expect(fieldsOf('partner-api')).toEqual(['max_concurrent'])
    expect(fieldsOf('shop/nightly-report')).toEqual(['timezone', 'queue', 'paused'])
    expect(fieldsOf('shop/cleanup')).toEqual(['paused'])
    expect(fieldsOf('shop/crm')).toEqual(['topic'])
    expect(fieldsOf('shop/on-call')).toEqual(['events'])
    expect(await run('plan', ...slack)).toEqual([])
  })

  it('creates a cron job again whose body was removed, and one whose channel changed', async () => {
    const { run, write, call } = await aWorkspace()
    await write(shop)
    await run('apply', ...slack)
    await write(
      shop.replace('    payload: { kind: nightly, texts: [a, b] }\n', '').replace('channel: slack', 'channel: discord'),
    )
    expect((await run('plan', ...slack)).map(({ action, key }) => [action, key])).toEqual([
      ['replace', 'shop/nightly-report'],
      ['replace', 'shop/on-call'],
    ])
    await run('apply', ...slack)
    expect(await run('plan', ...slack)).toEqual([])
    const [report] = (await call('GET', '/api/v1/scheduler/cronjobs?name=nightly')).body.data
    expect(report.payload).toBeNull()
  })

  it('uses the changes of an environment', async () => {
    const { run, write, call } = await aWorkspace()
    await write(shop)
    await run('apply', ...slack, '--env', 'staging')
    const { data } = (await call('GET', '/api/v1/scheduler/cronjobs')).body
    expect(data).toMatchObject([
      { url: 'https://staging.example.com/report', retry: { max_retries: 5, backoff: 'fixed' } },
    ])
  })

  it('deletes only what its project has made, and only with --prune', async () => {
    const { run, write, call, start } = await aWorkspace()
    const others = [
      { name: 'By hand', url: 'https://example.com', method: 'GET', cron: '0 0 1 1 *' },
      { name: 'Other', url: 'https://example.com', method: 'GET', cron: '0 0 1 1 *', key: 'shop-2/x' },
    ]
    for (const body of others) expect((await call('POST', '/api/v1/scheduler/cronjobs', body)).status).toBe(201)
    await write(shop)
    await run('apply', ...slack)
    await write('project: shop\ncron_jobs: { nightly-report: { cron: 0 3 * * *, url: "https://shop.example.com" } }\n')
    const kept = await start('apply').ended
    expect(kept.error).toContain('The file has no subscription shop/crm. Delete it with --prune.')
    expect((await call('GET', '/api/v1/scheduler/subscriptions')).body.data).toHaveLength(1)
    const pruned = await run('apply', '--prune')
    expect(pruned.map(({ action, key }) => [action, key]).sort()).toEqual([
      ['delete', 'shop/cleanup'],
      ['delete', 'shop/crm'],
      ['delete', 'shop/on-call'],
    ])
    const { data } = (await call('GET', '/api/v1/scheduler/cronjobs')).body
    expect(data.map(({ key }: { key: string }) => key).sort()).toEqual([null, 'shop-2/x', 'shop/nightly-report'].sort())
    expect((await call('GET', '/api/v1/scheduler/queues')).body.data).toHaveLength(1)
  })

  it('creates many cron jobs, and writes nothing the second time', async () => {
    const { run, write, keys } = await aWorkspace()
    const count = propertyRuns(500)
    const jobs = Array.from(
      { length: count },
      (_, i) => `  job-${i}: { cron: 0 3 * * *, url: "https://example.com/${i}" }`,
    )
    await write(`project: large\ncron_jobs:\n${jobs.join('\n')}\n`)
    const started = performance.now()
    expect(await run('apply')).toHaveLength(count)
    // An idle machine with two cores needs 3 seconds for 500.
    expect(performance.now() - started).toBeLessThan(30_000)
    const written = () =>
      belfry.execute(`SELECT max(updated_at), (SELECT count(*) FROM audit_log WHERE workspace_id = ANY (array_agg(cron_jobs.workspace_id)))
        FROM cron_jobs WHERE key LIKE 'large/%'`)
    const before = await written()
    expect(await run('apply')).toEqual([])
    expect(await written()).toEqual(before)
    expect((await keys()).length).toBe(count)
  })

  it('ends in the same state when it is killed, and when two run at once', async () => {
    const { run, write, startProgram, keys } = await aWorkspace()
    const count = propertyRuns(120, 60)
    const jobs = Array.from(
      { length: count },
      (_, i) => `  job-${i}: { cron: 0 3 * * *, url: "https://example.com/${i}" }`,
    )
    await write(`project: many\ncron_jobs:\n${jobs.join('\n')}\n`)
    const proxy = await startProxy(10)
    const killed = startProgram('apply', proxy.url)
    await vi.waitFor(() => expect(proxy.answered(), killed.error).toBe(10), { timeout: 30_000 })
    expect((await killed.kill()).code).toBeNull()
    expect(await keys()).toHaveLength(10)
    const both = await Promise.all([startProgram('apply').ended, startProgram('apply').ended])
    expect(both).toMatchObject([
      { code: 0, error: '' },
      { code: 0, error: '' },
    ])
    expect(await run('plan')).toEqual([])
    const all = await keys()
    expect([all.length, new Set(all).size]).toEqual([count, count])
  })
})

/** Forwards to Belfry, and answers only so many creations. */
async function startProxy(creations: number) {
  let [begun, answered] = [0, 0]
  const server = createServer(async (request, response) => {
    const pieces = await request.toArray()
    const isCreation = request.method === 'POST'
    if (isCreation && ++begun > creations) return
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
    const answer = await fetch(`${belfry.url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: headers as HeadersInit,
      body: isCreation ? Buffer.concat(pieces) : null,
    })
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
    if (isCreation) answered++
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answered: () => answered }
}

describe('adopt and export', () => {
  it('writes a file that changes nothing, and takes over what no file owned', async () => {
    const source = await aWorkspace()
    await source.call('PUT', '/api/v1/workspaces/current/secrets/TOKEN', { value: 'a secret value' })
    const connection = { kind: 'header', hosts: ['example.com'], value: 'another secret' }
    await source.call('PUT', '/api/v1/workspaces/current/connections/billing-api', connection)
    expect((await source.cli(['list', 'connections'])).out).toBe('billing-api\theader\texample.com\n')
    expect((await source.cli(['list', 'secrets'])).out).toMatch(/^TOKEN\t\S+\n$/)
    await source.write(shop)
    await source.run('apply', ...slack)
    const price = {
      name: `Costs ${'$'}{5}`,
      url: 'https://example.com/x',
      method: 'PUT',
      cron: '1 2 3 4 *',
      connection: 'billing-api',
    }
    const headers = { Authorization: 'Bearer {{ secrets.TOKEN }}' }
    await source.call('POST', '/api/v1/scheduler/cronjobs', { ...price, headers, payload: 'text' })
    const exported = await source.cli(['export', '--project', 'shop'])
    expect(exported.code).toBe(0)
    const own = await source.planOf(exported.out, '--var', 'ON_CALL_URL=https://hooks.slack.com/x')
    expect(own.map(({ action }) => action)).toEqual(['create'])
    const adopting = ['--adopt', '--var', 'ON_CALL_URL=https://hooks.slack.com/x']
    const adopted = await source.planOf(exported.out, ...adopting)
    expect(adopted).toMatchObject([{ action: 'update', key: 'shop/costs-5', differences: [] }])
    await source.write(exported.out)
    await source.run('apply', ...adopting)
    expect(await source.run('plan', '--var', 'ON_CALL_URL=https://hooks.slack.com/x')).toEqual([])

    const copy = await aWorkspace()
    await copy.write(exported.out)
    const refused = await copy.start('apply', '--var', 'ON_CALL_URL=https://hooks.slack.com/x').ended
    expect(refused).toMatchObject({ code: 2, error: 'The workspace has no secret TOKEN. Create it first.\n' })
    await copy.call('PUT', '/api/v1/workspaces/current/secrets/TOKEN', { value: 'another value' })
    const still = await copy.start('apply', '--var', 'ON_CALL_URL=https://hooks.slack.com/x').ended
    expect(still).toMatchObject({ code: 2, error: 'The workspace has no connection billing-api. Create it first.\n' })
    await copy.call('PUT', '/api/v1/workspaces/current/connections/billing-api', connection)
    await copy.run('apply', '--var', 'ON_CALL_URL=https://hooks.slack.com/x')
    const again = await copy.cli(['export', '--project', 'shop'])
    const lines = (text: string) => text.split('\n').sort()
    expect(lines(again.out)).toEqual(lines((await source.cli(['export', '--project', 'shop'])).out))
  })

  it('writes a file for the lines of a crontab', async () => {
    const { cli, write, run, call } = await aWorkspace()
    const crontab = `*/5 * * * * curl -m 20 https://example.com/ping
0 3 * * * curl -X PUT -H 'Content-Type: application/json' -d '{"n":12345678901234567890}' https://example.com/x
`
    const { code, out } = await cli(['import', 'crontab', '--to-file', '--timezone', 'Europe/Berlin', '-'], crontab)
    expect(code).toBe(0)
    expect((await call('GET', '/api/v1/scheduler/cronjobs')).body.data).toEqual([])
    await write(out)
    expect(await run('apply')).toHaveLength(2)
    expect(await run('plan')).toEqual([])
    const [put, ping] = (await call('GET', '/api/v1/scheduler/cronjobs')).body.data.sort(
      (a: { url: string }, b: { url: string }) => (a.url < b.url ? 1 : -1),
    )
    expect(ping).toMatchObject({ method: 'GET', cron: '*/5 * * * *', timezone: 'Europe/Berlin', timeout_ms: 20_000 })
    const { text } = await call('GET', `/api/v1/scheduler/cronjobs/${put.id}`)
    expect(text).toContain('"payload":{"n":12345678901234567890}')
  })

  it('warns of an object that looks like a new one', async () => {
    const { call, write, start } = await aWorkspace()
    const body = { name: 'nightly', url: 'https://example.com', method: 'POST', cron: '0 3 * * *' }
    const { id } = (await call('POST', '/api/v1/scheduler/cronjobs', body)).body
    await write('project: shop\ncron_jobs: { nightly: { cron: 0 3 * * *, url: "https://example.com" } }\n')
    const planned = await start('plan').ended
    expect(planned.error).toBe(`cron job nightly looks like ${id}, which no file owns. Take it over with --adopt.\n`)
    expect(planned.out).toBe('+ cron job nightly\n1 to create, 0 up to date.\n')
  })
})

describe('plan', () => {
  it('shows what changes, and tells CI by its exit code', async () => {
    const { run, write, start } = await aWorkspace()
    await write(shop)
    expect((await start('plan', '--check', ...slack).ended).code).toBe(1)
    await run('apply', ...slack)
    expect((await start('plan', '--check', ...slack).ended).code).toBe(0)
    await write(shop.replace('0 3 * * *', '0 4 * * *'))
    expect(await start('plan', ...slack).ended).toEqual({
      code: 0,
      out: '~ cron job nightly-report\n    cron: "0 3 * * *" → "0 4 * * *"\n1 to change, 4 up to date.\n',
      error: '',
    })
  })

  it('lists every problem of a file with its place, and sends nothing', async () => {
    const { write, start, keys } = await aWorkspace()
    await write(`
project: shop
cron_jobs:
  a: { cron: never, url: "ftp://example.com", colour: red }
  b: { cron: 0 3 * * *, url: "\${MISSING}/x", paused: maybe, key: mine }
  c: { cron: 0 3 * * *, url: "https://example.com", queue: { name: q, max_concurrent: 1 } }
subscriptions:
  d: { topic: "a b", url: "https://example.com" }
`)
    const { code, error } = await start('apply').ended
    expect(code).toBe(2)
    expect(error.split('\n')).toEqual([
      'cron_jobs.a.url: The URL must be absolute and start with http:// or https://.',
      expect.stringMatching(/^cron_jobs.a.cron: cron must have exactly 5 fields/),
      'cron_jobs.a.colour: "colour" is not a known field.',
      'cron_jobs.b.url: The variable MISSING has no value.',
      'cron_jobs.b.url: The URL must be absolute and start with http:// or https://.',
      'cron_jobs.b.paused: paused must be true or false.',
      'cron_jobs.b.key: key is set by the project and the name of the entry.',
      'cron_jobs.c.queue: queue must be a name. Set its limits under queues.',
      expect.stringMatching(/^subscriptions.d.topic: topic must be/),
      '',
    ])
    expect(await keys()).toEqual([])
    for (const [text, message] of [
      ['project: [', /flow|end/i],
      ['cron_job: {}', /"cron_job" is not a known field. Did you mean "cron_jobs"\?/],
      ['project: a b', /project/],
    ] as const) {
      await write(text)
      expect(await start('plan').ended).toMatchObject({ code: 2, error: expect.stringMatching(message) })
    }
    await write(shop)
    const unknown = await start('plan', ...slack, '--env', 'production').ended
    expect(unknown).toMatchObject({ code: 2, error: 'The file has no environment production. It has staging.\n' })
    expect((await start('plan', '--var', 'nonsense').ended).code).toBe(2)
  })
})
