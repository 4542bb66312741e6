import { once } from 'node:events'
import { connect } from 'node:net'
import { fromId } from '@belfry/domain/id'
import { type Cost, leastCostOf } from '@belfry/test-support/cpu-time'
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { trust } from '../organization.ts'
import { allRoutes } from '../permissions/all-routes.ts'
import { readOpenApi } from '../read-openapi.ts'
import { storeRuns } from '../run-rows.ts'
import { useApi } from '../setup.ts'
import { aFullOrganization, type FullOrganization } from './full-organization.ts'
import { callsOfAgents, callsOfQstash, callsOfTheApi, type WorstCall } from './worst-calls.ts'

const api = useApi({ RATE_LIMITS: 'off', QSTASH_API: 'on' })
const limits: Cost = { stallMs: 50, heapBytes: 64e6 }
// What all unread responses together may keep.
const maxUnreadBytes = 64 * 1024 * 1024

let full: FullOrganization
beforeAll(async () => {
  full = await aFullOrganization(api)
  await trust(api, full.organization.owner)
}, 300_000)

type Measured = Cost & { name: string }

async function expectCheap(calls: readonly WorstCall[], reads: readonly string[]): Promise<void> {
  vi.spyOn(api.ctx.config.operators, 'includes').mockReturnValue(true)
  onTestFinished(() => void vi.restoreAllMocks())
  const succeeded = new Set<string>()
  const measured: Measured[] = []
  for (const call of calls) {
    let name = call.operation
    const prepare = async () => {
      const { path, ...options } = await call.prepare()
      name = `${call.operation} ${path.slice(-100)} ${options.body?.slice(0, 100)}`
      return async () => {
        const leaving = new AbortController()
        const response = await fetch(api.url + path, { ...options, signal: leaving.signal })
        if (response.ok) succeeded.add(call.operation)
        // A stream has no end.
        if (response.headers.get('content-type')?.startsWith('text/event-stream')) leaving.abort()
        else for await (const _ of response.body ?? []);
      }
    }
    const cost = await leastCostOf(prepare, limits)
    measured.push({ ...cost, name })
  }
  report(new Set(calls.map(({ operation }) => operation)).size, measured, succeeded)
  expect([...succeeded]).toEqual(expect.arrayContaining([...reads]))
  expect(measured.filter(isTooMuch)).toEqual([])
}

function isTooMuch({ stallMs, heapBytes }: Cost): boolean {
  return stallMs > limits.stallMs || heapBytes > limits.heapBytes
}

function report(operations: number, measured: readonly Measured[], succeeded: ReadonlySet<string>): void {
  const line = ({ stallMs, heapBytes, name }: Measured) =>
    `${Math.round(stallMs)} ms ${Math.round(heapBytes / 1e6)} MB ${name}`
  console.log(`${operations} operations, ${measured.length} requests, ${succeeded.size} operations succeeded`)
  console.log(
    measured
      .toSorted((a, b) => b.stallMs - a.stallMs)
      .slice(0, 10)
      .map(line)
      .join('\n'),
  )
  console.log(
    measured
      .toSorted((a, b) => b.heapBytes - a.heapBytes)
      .slice(0, 5)
      .map(line)
      .join('\n'),
  )
}

it('no operation of the OpenAPI document blocks the event loop or fills the heap', async () => {
  const document = await readOpenApi(api)
  const lists = [
    'tasks',
    'tasks/export',
    'cronjobs',
    'runs',
    'runs/export',
    'runs/stream',
    'dead-letters',
    'subscriptions',
  ]
  await expectCheap(callsOfTheApi(api, document, full), [
    ...lists.map(list => `GET /api/v1/scheduler/${list}`),
    ...['tasks/{task}', 'cronjobs/{cronjob}', 'subscriptions/{sub}'].map(one => `DELETE /api/v1/scheduler/${one}`),
  ])
})

it('no endpoint of the QStash interface does', async () => {
  await expectCheap(await callsOfQstash(full), [
    ...['messages/:id', 'schedules', 'dlq', 'events', 'logs', 'topics/:name'].map(path => `GET /v2/${path}`),
    ...['POST /v2/batch', 'DELETE /v2/messages', 'POST /v2/topics/:name/endpoints'],
  ])
})

it('no tool of the Model Context Protocol does', async () => {
  await expectCheap(await callsOfAgents(api, full), [
    'list_tasks of /mcp',
    'list_cron_jobs of /mcp',
    'list_runs of /mcp',
  ])
})

/** Sends requests whose responses are not read. */
async function requestUnread(path: string, count: number): Promise<void> {
  const { port, host } = new URL(api.url)
  const head = Object.entries(full.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${head.join('')}\r\n`)
    await once(socket, 'readable')
  }
}

it('unread responses do not block the event loop, and keep a bounded memory', async () => {
  const unread = [
    'tasks?limit=100',
    'cronjobs?limit=100',
    'dead-letters?limit=100',
    'runs?limit=100',
    'tasks/export?format=jsonl',
  ]
  for (const path of unread) {
    const { stallMs, heapBytes } = await leastCostOf(async () => () => requestUnread(`/api/v1/scheduler/${path}`, 50), {
      ...limits,
      heapBytes: limits.heapBytes + maxUnreadBytes,
    })
    console.log(`${Math.round(stallMs)} ms ${Math.round(heapBytes / 1e6)} MB ${path}`)
    expect(stallMs, path).toBeLessThan(limits.stallMs)
    expect(heapBytes, path).toBeLessThan(limits.heapBytes + maxUnreadBytes)
  }
})

const streams = allRoutes().filter(({ path }) => path.endsWith('/stream'))

it.each(streams)('an unread live stream ends, and keeps a bounded memory: $name', async ({ path }) => {
  const address = path.replace(/:(\w+)/g, (_, name) => full.ids[name] ?? '')
  const seed = { workspaceId: fromId('ws', full.ids.ws ?? '') ?? '', taskId: fromId('task', full.ids.task ?? '') ?? '' }
  const follow = async () => {
    await requestUnread(address, 5)
    expect(api.ctx.runStreams.size).toBe(5)
    const storeMore = async () => {
      await storeRuns(
        api.db,
        Array.from({ length: 200 }, () => ({ ...seed, startedAt: new Date() })),
      )
      return api.ctx.runStreams.size
    }
    await expect.poll(storeMore, { timeout: 240_000, interval: 1_000 }).toBe(0)
  }
  const { stallMs, heapBytes } = await leastCostOf(async () => follow, limits)
  console.log(`${Math.round(stallMs)} ms ${Math.round(heapBytes / 1e6)} MB ${address}`)
  expect(stallMs).toBeLessThan(limits.stallMs)
  expect(heapBytes).toBeLessThan(limits.heapBytes)
})
