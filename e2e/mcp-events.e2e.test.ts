import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { inMs } from './api-calls.ts'
import { startBelfry, useBelfry } from './belfry.ts'
import { aClientOfEvents, type ClientOfEvents } from './client-of-events.ts'
import { repositoryRoot } from './repository-root.ts'

vi.setConfig({ testTimeout: 60_000 })

const belfry = useBelfry('postgres')
let client: ClientOfEvents
beforeAll(async () => {
  client = await aClientOfEvents(`${belfry.url}/mcp`, { 'X-Api-Key': String(belfry.caller.apiKey) })
})
afterAll(() => client?.close())

describe('the client of the AI SDK', () => {
  it('lists the events, subscribes, receives a reminder at its time, refreshes and unsubscribes', async () => {
    const { events } = await client.events.list()
    expect(events.map(({ name, delivery }) => [name, ...delivery])).toEqual([
      ['reminder.due', 'webhook'],
      ['task.dead', 'webhook'],
      ['run.failed', 'webhook'],
      ['cron.missed', 'webhook'],
      ['topic', 'webhook'],
    ])
    const at = inMs(3_000)
    const { id, refreshBefore, cursor } = await client.subscribe('reminder.due', { at, note: 'Call Ada' })
    expect([id, cursor, Date.parse(String(refreshBefore)) > Date.now()]).toEqual([
      expect.stringMatching(/^mcp_/),
      null,
      true,
    ])
    const [reminder] = await client.received(id, 1)
    expect(reminder?.event).toMatchObject({ name: 'reminder.due', timestamp: at, data: { note: 'Call Ada' } })
    expect(Number(reminder?.at)).toBeGreaterThanOrEqual(Date.parse(at))
    expect((await client.events.refresh({ id })).id).toBe(id)
    const shown = async () => (await belfry.call('GET', '/api/v1/scheduler/subscriptions?limit=100')).body.data
    expect((await shown()).find(({ key }: { key: string }) => key === id)).toMatchObject({
      active: true,
      mcp: { name: 'reminder.due' },
    })
    await client.events.unsubscribe({ id })
    expect((await shown()).filter(({ key }: { key: string }) => key === id)).toEqual([])
  })

  it('is told about a task that dies, each failed attempt, and an event that its filter matches', async () => {
    const label = 'mcp:watched'
    const [dead, failed, topic] = await Promise.all([
      client.subscribe('task.dead', { label }),
      client.subscribe('run.failed', { label }),
      client.subscribe('topic', { topic: 'mcp.*', filter: [{ path: 'total', op: 'gt', value: 1 }] }),
    ])
    const retry = { max_retries: 1, backoff: 'fixed', base_delay_ms: 1_000, max_delay_ms: 1_000 }
    const task = {
      name: 'Watched',
      url: 'http://127.0.0.1:1/',
      method: 'POST',
      execute_at: inMs(500),
      labels: [label],
      retry,
    }
    const { body } = await belfry.call('POST', '/api/v1/scheduler/tasks', task)
    for (const total of [1, 2]) await belfry.call('POST', '/api/events', { topic: 'mcp.order', payload: { total } })
    const data = { id: body.id, name: 'Watched', last_run: { error_code: 'connection_refused' } }
    expect((await client.received(topic.id, 1)).map(({ event }) => event.data)).toEqual([
      { topic: 'mcp.order', payload: { total: 2 } },
    ])
    expect((await client.received(dead.id, 1))[0]?.event).toMatchObject({
      name: 'task.dead',
      data: { ...data, state: 'dead' },
    })
    expect((await client.received(failed.id, 2)).map(({ event }) => event.data)).toMatchObject([data, data])
    await Promise.all([dead, failed, topic].map(({ id }) => client.events.unsubscribe({ id })))
  })

  it('gets an event again that its callback has not accepted, with the same id, and none after 410 or 413', async () => {
    const subscribed = await Promise.all([503, 410, 413].map(() => client.subscribe('topic', { topic: 'again' })))
    for (const [i, status] of [503, 410, 413].entries()) client.refuseNext(String(subscribed[i]?.id), status)
    await belfry.call('POST', '/api/events', { topic: 'again', payload: {} })
    const [again] = await client.received(String(subscribed[0]?.id), 1)
    expect(client.refused(String(subscribed[0]?.id))).toEqual([again?.event.eventId])
    for (const { id } of subscribed.slice(1)) {
      const states = async () => (await belfry.call('GET', `/api/v1/scheduler/tasks?label=${id}&topic=again`)).body.data
      await waitFor(states, ([task]) => task?.state === 'dead', 20_000)
      expect((await states())[0]).toMatchObject({ attempts: 1 })
    }
    await Promise.all(subscribed.map(({ id }) => client.events.unsubscribe({ id })))
  })

  it('is told that it has lost an event, and that its subscription was ended here', async () => {
    const { id } = await client.subscribe('topic', { topic: 'lost' })
    client.refuseNext(id, 413)
    await belfry.call('POST', '/api/events', { topic: 'lost', payload: {} })
    expect(await client.told(id, 1)).toEqual(['gap'])
    const { data } = (await belfry.call('GET', '/api/v1/scheduler/subscriptions?limit=100')).body
    const stored = data.find(({ key }: { key: string }) => key === id)
    expect((await belfry.call('DELETE', `/api/v1/scheduler/subscriptions/${stored.id}`)).status).toBe(204)
    expect(await client.told(id, 2)).toEqual(['gap', 'terminated -32012'])
  })
})

it('an event arrives although the dispatcher was killed before its delivery', async () => {
  const own = await startBelfry('postgres')
  const subscriber = await aClientOfEvents(`${own.url}/mcp`, { 'X-Api-Key': String(own.caller.apiKey) })
  const { id } = await subscriber.subscribe('topic', { topic: 'killed' })
  await own.services.find(({ name }) => name === 'dispatcher')?.stop('SIGKILL')
  const { body } = await own.call('POST', '/api/events', { topic: 'killed', payload: {} })
  await own.start('dispatcher')
  expect((await subscriber.received(id, 1)).map(({ event }) => event.eventId)).toEqual([body.tasks[0].id])
  await subscriber.close()
  await own.close()
})

describe('a hostile callback', () => {
  let hostile: Server
  let called: string[]
  beforeAll(async () => {
    called = []
    hostile = createServer((request, response) => {
      called.push(String(request.url))
      const [status = 200, body = ''] = answers[String(request.url)] ?? []
      response.writeHead(status, { Location: '/called' }).end(body)
    })
    await new Promise<void>(resolve => hostile.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => hostile?.close())

  const answers: Record<string, [number, string?]> = {
    '/redirects': [302],
    '/fails': [500, 'internal secrets'],
    '/echoes-nothing': [200, '{}'],
    '/large': [200, `{"challenge":"${'x'.repeat(100_000)}"}`],
  }

  it.each([
    ['/redirects', 'http_4xx'],
    ['/fails', 'http_5xx'],
    ['/echoes-nothing', 'challenge_failed'],
    ['/large', 'challenge_failed'],
  ])('%s gets the challenge and nothing else', async (path, reason) => {
    const url = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}${path}`
    const body = { name: 'topic', arguments: { topic: 'hostile' }, url, secret: `whsec_${'A'.repeat(32)}` }
    const { status, body: problem, text } = await belfry.call('POST', '/api/v1/mcp-subscriptions', body)
    expect([status, problem.code, problem.reason, text.includes('internal secrets')]).toEqual([
      ...[409, 'callback_refused', reason, false],
    ])
    const { body: published } = await belfry.call('POST', '/api/events', { topic: 'hostile', payload: {} })
    expect([published.tasks, called.filter(one => one === path).length, called.includes('/called')]).toEqual([
      [],
      1,
      false,
    ])
  })

  it.each([
    ['a closed port', 'http://127.0.0.1:1/'],
    ['a name without an address', 'https://agent.invalid/'],
  ])('is not reached behind %s', async (_, url) => {
    const body = { name: 'topic', arguments: { topic: 'hostile' }, url, secret: `whsec_${'A'.repeat(32)}` }
    const { body: problem } = await belfry.call('POST', '/api/v1/mcp-subscriptions', body)
    expect([problem.code, problem.reason]).toEqual(['callback_refused', 'connection_refused'])
  })
})

describe('the MCP server of the examples', () => {
  it('lets its users subscribe to its own events', async () => {
    const port = await freePort()
    vi.stubEnv('PORT', String(port))
    vi.stubEnv('BELFRY_URL', belfry.url)
    vi.stubEnv('BELFRY_API_KEY', String(belfry.caller.apiKey))
    onTestFinished(() => void vi.unstubAllEnvs()) // the process runs other files next
    const outfile = join(tmpdir(), `mcp-server-${process.pid}.mjs`)
    const banner = {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
    }
    const entryPoints = [join(repositoryRoot(), 'examples/mcp-server.ts')]
    await build({ entryPoints, outfile, banner, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' })
    await import(outfile)
    const url = `http://127.0.0.1:${port}`
    const ada = await aClientOfEvents(`${url}/mcp`, { Authorization: 'Bearer token-of-ada' })
    const { id } = await ada.subscribe('comment.created', { document: 'doc_42' })
    for (const document of ['doc_1', 'doc_42']) {
      await fetch(`${url}/comments`, { method: 'POST', body: JSON.stringify({ document, text: 'Hi' }) })
    }
    expect((await ada.received(id, 1)).map(({ event }) => event.data)).toEqual([{ document: 'doc_42', text: 'Hi' }])
    await expect(ada.subscribe('comment.deleted', {})).rejects.toThrow(/comment.deleted/)
    await expect(ada.subscribe('comment.created', { document: {} })).rejects.toThrow(/arguments|invalid/)
    await ada.events.unsubscribe({ id })
    await ada.close()
  })
})
