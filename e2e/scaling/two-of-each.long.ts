import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@belfry/embedded'
import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Belfry, startBelfry } from '../belfry.ts'
import { hasTool } from '../deployment/tools.ts'
import type { RunningService, ServiceName } from '../processes.ts'
import { type Ingress, startIngress } from './ingress.ts'
import { startSteadyPosts } from './steady-posts.ts'

const backend = queueBackends()[0] ?? 'postgres'
const hasNginx = hasTool('nginx', ['-v'])

describe.runIf(hasNginx)('two of each service behind nginx', () => {
  let belfry: Belfry
  let ingress: Ingress
  let target: Receiver
  let secondPort: number
  beforeAll(async () => {
    // Answers take some time, so there are always calls in flight.
    target = await startReceiver({ otherwise: { status: 200, delayMs: 150 } })
    secondPort = await freePort()
    belfry = await startBelfry(backend, { env: { TRUST_PROXY: '1', QUEUE_SHARDS: '2' } })
    await Promise.all([
      belfry.start('api', { PORT: String(secondPort) }),
      belfry.start('scheduler'),
      belfry.start('dispatcher'),
    ])
    ingress = await startIngress([Number(new URL(belfry.url).port), secondPort])
  }, 60_000)
  afterAll(async () => {
    await ingress?.close()
    await belfry?.close()
    await target?.close()
  })

  const servicesOf = (name: ServiceName): [RunningService, RunningService] => {
    const [first, second] = belfry.services.filter(service => service.name === name)
    if (!first || !second) throw new Error(`There are no two of ${name}.`)
    return [first, second]
  }
  const rows = (statement: string) => belfry.execute(statement)

  it('keeps the id of a request, and passes the address of the caller to the services', async () => {
    const get = (headers: Record<string, string>) => fetch(`${ingress.url}/healthz`, { headers })
    expect((await get({ 'X-Request-Id': 'mine-1' })).headers.get('x-request-id')).toBe('mine-1')
    expect((await get({})).headers.get('x-request-id')).toMatch(/^[\da-f]{32}$/)
    const body = JSON.stringify({ name: 'From elsewhere' })
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': '203.0.113.9' }
    const to = `${ingress.url}/api/v1/organizations/${belfry.caller.organizationId}`
    const status = await patchFrom('127.0.0.2', to, body, {
      ...headers,
      Authorization: `Bearer ${belfry.caller.token}`,
    })
    expect(status).toBe(200)
    const log = await belfry.call('GET', `/api/v1/organizations/${belfry.caller.organizationId}/audit-log`, undefined, {
      token: belfry.caller.token ?? '',
    })
    expect(JSON.stringify(log.body.data[0])).toContain('127.0.0.2')
  })

  it('loses nothing and repeats only killed attempts, while one of each service is added, stopped and killed', async () => {
    const tail = await followRuns(`${ingress.url}/api/v1/scheduler/runs/stream`, belfry.caller.apiKey ?? '')
    const load = startSteadyPosts(ingress.url, belfry.caller, target, 5_000)
    const [firstDispatcher, secondDispatcher] = servicesOf('dispatcher')
    const calls = (count: number) => target.waitFor(target.requests.length + count, 20_000)
    await calls(40)
    expect(tail.events()).toBeGreaterThan(0) // while the stream is open

    await belfry.start('dispatcher')
    await calls(40)
    expect(await firstDispatcher.stop('SIGTERM')).toBe(0)
    await calls(40)
    expect(await rows(`SELECT error_code FROM runs WHERE status = 'failed'`)).toEqual([])
    expect(repetitions(target)).toEqual([]) // neither the added nor the stopped process repeated a call

    await secondDispatcher.stop('SIGKILL')
    await belfry.start('dispatcher')
    await servicesOf('api')[1].stop('SIGKILL')
    await servicesOf('scheduler')[0].stop('SIGKILL')
    await sleep(2_000)
    await belfry.start('api', { PORT: String(secondPort) })
    await sleep(2_000)
    await load.stop()
    tail.close()

    const delivered = async () => new Set(target.requests.map(({ path }) => path))
    await waitFor(delivered, paths => load.accepted.every(path => paths.has(path)), 60_000)
    await waitFor(
      () => rows(`SELECT id FROM tasks WHERE state <> 'success'`),
      unfinished => unfinished.length === 0,
      60_000,
    )
    const lost = await rows(`SELECT task_id FROM runs WHERE error_code = 'worker_lost'`)
    expect(repetitions(target).length).toBeLessThanOrEqual(lost.length)
    expect(target.requests.length).toBeLessThanOrEqual(load.accepted.length + lost.length)
    const [tasks] = await rows('SELECT count(*)::int AS count FROM tasks')
    expect(tasks?.count).toBe(load.accepted.length) // a repeated create made one task
    const served = await ingress.served()
    for (const port of [Number(new URL(belfry.url).port), secondPort]) expect(served.get(port)).toBeGreaterThan(20)
    console.info(
      `${load.accepted.length} tasks, ${target.requests.length} calls, ${lost.length} attempts lost by the kill, ` +
        `${repetitions(target).length} repeated, ${load.repeated.length} creates repeated`,
    )
  }, 150_000)
})

/** Returns the paths that were called more than once. */
function repetitions(target: Receiver): string[] {
  const seen = new Set<string>()
  return target.requests.map(({ path }) => path).filter(path => seen.size === seen.add(path).size)
}

function patchFrom(address: string, url: string, body: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'PATCH', localAddress: address, headers }, answer => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
    })
    call.once('error', reject).end(body)
  })
}

async function followRuns(url: string, apiKey: string) {
  const left = new AbortController()
  const response = await fetch(url, { headers: { 'X-Api-Key': apiKey }, signal: left.signal })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  let events = 0
  const read = async () => {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      events += piece.split('\ndata:').length - 1
    }
  }
  read().catch(() => {}) // ends with the api that served it
  return { events: () => events, close: () => left.abort() }
}
