import { maxStallOf } from '@belfry/test-support/cpu-time'
import { expect, it } from 'vitest'
import { anOrganization } from './organization.ts'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi({ RATE_LIMITS: 'off' })
const maxStallMs = 50
const maxHeapBytes = 64e6
const rounds = 3

type Operation = { method: string; path: string; description: Json }

const payload = 'x'.repeat(250_000)
const manyKeys = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`key${i}`, i]))
const manyNumbers = Array.from({ length: 100_000 }, (_, i) => i % 10)
const escapes = '\\"\u0001'.repeat(25_000)
const deep = JSON.parse('['.repeat(28) + ']'.repeat(28))
/** Values that fill a body of 256 KiB, each in another way. */
const worst = [payload, manyKeys, manyNumbers, escapes, Array(4_000).fill(deep)]

/** Returns the bodies of an operation: its example, a long list, and each of the values in `payload` or in the first member. */
function bodiesOf({ description }: Operation): string[] {
  const example = description.requestBody?.content?.['application/json']?.example
  if (example === undefined) return ['']
  const [first = 'payload'] = Object.keys(example)
  const member =
    'payload' in (description.requestBody.content['application/json'].schema?.properties ?? {}) ? 'payload' : first
  const list = Array.isArray(example[first]) ? [{ ...example, [first]: Array(1_000).fill(example[first][0]) }] : []
  const bodies = [example, ...list, ...worst.map(value => ({ ...example, [member]: value }))]
  return bodies.map(body => JSON.stringify(body))
}

it('no operation of the OpenAPI document blocks the event loop or fills the heap', async () => {
  const organization = await anOrganization(api, 'unlimited')
  const key = await organization.apiKey()
  const send = (method: string, path: string, headers: Record<string, string>, body?: string) =>
    fetch(api.url + path, {
      method,
      headers: { ...headers, 'Content-Type': 'application/json' },
      ...(body && { body }),
    })
  const ids: Record<string, string> = { ws: 'current', org: organization.id }
  for (let i = 0; i < 30; i++) {
    const task = await api.send('POST', '/api/v1/scheduler/tasks', aTaskBody({ payload }), key)
    const { execute_at: _, ...target } = aTaskBody({ payload })
    const job = await api.send('POST', '/api/v1/scheduler/cronjobs', { ...target, cron: '0 0 1 1 *' }, key)
    Object.assign(ids, { task: task.body.id, cronjob: job.body.id })
  }
  const { body: document } = await api.send('GET', '/api/openapi.json')
  const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, description]) => ({ path, method: method.toUpperCase(), description })),
  )
  // Waits for a dispatcher, streams without an end, hashes a password in a thread, or takes the caller its access.
  const others = /stream|auth\/|\/test$|transfer$|api-keys\/|accept$/
  const answered = new Set<string>()
  const measured: Array<{ stall: number; heap: number; name: string }> = []
  for (const operation of operations) {
    const { method, path } = operation
    if (others.test(path) || method === 'DELETE') continue
    const isExport = path.endsWith('/export')
    const query = method === 'GET' ? (isExport ? '?format=jsonl' : path.endsWith('s') ? '?limit=100' : '') : ''
    const address = path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? '00000000000000000000000000') + query
    const headers = path.includes('{org}') ? organization.owner.session : key
    for (const [i, body] of bodiesOf(operation).entries()) {
      let [stall, heap] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      for (let round = 0; round < rounds; round++) {
        const before = process.memoryUsage().heapUsed
        let peak = before
        const sampler = setInterval(() => {
          peak = Math.max(peak, process.memoryUsage().heapUsed)
        })
        const one = async () => {
          const response = await send(method, address, headers, body)
          await response.arrayBuffer()
          if (response.ok) answered.add(`${method} ${path}`)
        }
        // The first compiles the code.
        stall = Math.min(stall, await maxStallOf(one))
        clearInterval(sampler)
        heap = Math.min(heap, peak - before)
      }
      measured.push({ stall, heap, name: `${method} ${path} ${i}` })
    }
  }
  const slowest = measured.sort((a, b) => b.stall - a.stall).slice(0, 10)
  console.log(`${operations.length} operations, ${measured.length} requests, ${answered.size} operations succeeded`)
  console.log(
    slowest.map(({ stall, heap, name }) => `${Math.round(stall)} ms ${Math.round(heap / 1e6)} MB ${name}`).join('\n'),
  )
  for (const list of ['tasks', 'tasks/export', 'cronjobs', 'runs', 'runs/export', 'dead-letters']) {
    expect([...answered]).toContain(`GET /api/v1/scheduler/${list}`)
  }
  expect(measured.filter(({ stall }) => stall > maxStallMs)).toEqual([])
  expect(measured.filter(({ heap }) => heap > maxHeapBytes)).toEqual([])
})
