import { Belfry, parseJson, stringifyJson } from '@belfry/client'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { waitFor } from '@belfry/test-support/wait-for'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBelfry } from './belfry.ts'
import { startCommand } from './cli/run-cli.ts'

const belfry = useBelfry('postgres')
let target: Receiver
let client: Belfry
let agent: Client
beforeAll(async () => {
  target = await startReceiver()
  const apiKey = String(belfry.caller.apiKey)
  client = new Belfry({ baseUrl: belfry.url, apiKey })
  agent = new Client({ name: 'an-agent', version: '1.0.0' })
  const requestInit = { headers: { 'X-Api-Key': apiKey } }
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${belfry.url}/mcp`), { requestInit }) as Transport)
})
afterAll(async () => {
  await agent?.close()
  await target?.close()
})

/** A call, with its payload as JSON text and its time in a spelling. */
type Call = { url: string; payload: string; headers: Record<string, string>; at: Date; spelt: string }
type Door = (call: Call) => Promise<unknown>

const created = async (method: string, path: string, body: string) => {
  const answer = await belfry.call(method, path, body)
  expect([answer.status, answer.text]).toEqual([expect.toSatisfy((status: number) => status < 300), answer.text])
  return answer.body
}
const run = async (args: string[], input = '') => {
  const { code, out, error } = await startCommand(belfry, args, input).ended
  expect([code, error]).toEqual([0, ''])
  return out
}
const taskText = ({ url, payload, headers, spelt }: Call) =>
  `${JSON.stringify({ name: 'same', url, method: 'POST', headers, execute_at: spelt }).slice(0, -1)},"payload":${payload}}`

// At a time.
const scheduling: Record<string, Door> = {
  api: call => created('POST', '/api/v1/scheduler/tasks', taskText(call)),
  batch: call => created('POST', '/api/v1/scheduler/tasks/batch', `{"tasks":[${taskText(call)}]}`),
  qstash: async ({ url, payload, headers, at }) => {
    const forwarded = Object.entries(headers).map(([name, value]) => [`Upstash-Forward-${name}`, value])
    const response = await fetch(`${belfry.url}/v2/publish/${url}`, {
      method: 'POST',
      headers: {
        ...{ Authorization: `Bearer ${belfry.caller.apiKey}`, 'Content-Type': 'application/json' },
        ...{ 'Upstash-Not-Before': String(at.getTime() / 1000), ...Object.fromEntries(forwarded) },
      },
      body: payload,
    })
    expect(response.status).toBe(201)
  },
  client: ({ url, payload, headers, spelt }) =>
    client.tasks.create({ targetUrl: new URL(url), payload, headers, executeAt: spelt }),
  'client with a value': ({ url, payload, headers, at }) =>
    client.tasks.create({ targetUrl: url, payload: parseJson(payload) as object, headers, executeAt: at }),
  cli: ({ url, payload, headers, spelt }) => {
    const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
    return run(['schedule', url, '--at', spelt, '--data', payload, ...lines])
  },
  mcp: async ({ url, payload, headers, spelt }) => {
    const args = { url, payload_json: payload, headers, at: spelt }
    expect((await agent.callTool({ name: 'schedule_task', arguments: args })).isError).toBeFalsy()
  },
}

// At once.
const publishing: Record<string, Door> = {
  event: ({ url, payload, headers }) =>
    created(
      'POST',
      '/api/events',
      `{"topic":"same","target_url":"${url}","headers":${JSON.stringify(headers)},"payload":${payload}}`,
    ),
  yaml: async ({ url, payload, headers }) => {
    const name = `same${url.replace(/\W+/g, '-').slice(-40)}`
    const file = `project: ${name}\ncron_jobs:\n  job:\n    url: ${JSON.stringify(url)}\n    cron: 0 0 1 1 *\n    headers: ${JSON.stringify(headers)}\n    payload: ${payload}\n`
    await run(['apply', '-f', '-'], file)
    expect(await run(['plan', '-f', '-', '--json'], file)).toBe('')
    expect(await run(['export', '--project', name])).toContain(/\d{16,}/.exec(payload)?.[0] ?? '')
    const { body } = await belfry.call('GET', '/api/v1/scheduler/cronjobs?limit=100')
    const job = body.data.find(({ key }: { key: string }) => key === `${name}/job`)
    await created('POST', `/api/v1/scheduler/cronjobs/${job.id}/trigger`, '{}')
  },
}

// As Java, PostgreSQL, Python, .NET and `date` print a time.
const spellings = [
  (text: string) => text.replace('.000Z', 'Z'),
  (text: string) => text.replace('T', ' ').replace('.000Z', '+00'),
  (text: string) => text.replace('T', ' ').replace('.000Z', '+00:00'),
  (text: string) => text.replace('.000Z', '.0000000+00:00'),
  (text: string) => text.replace('.000Z', ',000000000+0000'),
]

const odd = fc.constantFrom('\0', '\ud83d', '\udc00', '😀', 'é', '"', '\\', '/', '\u2028', '{', ' ', "'", '<')
const text = fc.string({ unit: odd, maxLength: 8 })
const digits = fc.constantFrom(
  '12345678901234567890',
  '-9007199254740993',
  '0.12345678901234567890',
  '1e+21',
  '-0.5',
  '7',
)
const call = fc.record({
  texts: fc.dictionary(text, text, { maxKeys: 3 }),
  numbers: fc.array(digits, { minLength: 1, maxLength: 4 }),
  header: fc.string({
    unit: fc.constantFrom('a', '"', 'é', 'ÿ', '{', '}', ';', '\\', '%'),
    minLength: 1,
    maxLength: 8,
  }),
  spelling: fc.nat(spellings.length - 1),
})

it('the same call by each door leaves the same bytes at the target', async () => {
  let number = 0
  const property = fc.asyncProperty(call, async ({ texts, numbers, header, spelling }) => {
    const path = `/same/${++number}`
    const payload = stringifyJson({ texts, numbers: numbers.map(parseJson) })
    const at = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2_000)
    const spelt = spellings[spelling]?.(at.toISOString()) ?? ''
    const doors = Object.entries({ ...scheduling, ...publishing })
    const headers = { 'X-Same': header, 'Content-Encoding': 'identity' }
    const call = (name: string) => ({
      url: target.url(`${path}/${encodeURIComponent(name)}?a=b%20c&d=+e`),
      payload,
      headers,
      at,
      spelt,
    })
    await Promise.all(doors.map(([name, door]) => door(call(name))))
    for (const [name] of doors) {
      const ofDoor = () =>
        target.requests.filter(request => request.target === `${path}/${encodeURIComponent(name)}?a=b%20c&d=+e`)
      await waitFor(
        async () => ofDoor().length,
        length => length > 0,
        30_000,
      )
      const [request] = ofDoor()
      const lines = request?.rawHeaders ?? []
      const values = new Map(
        lines.flatMap((line, i) => (i % 2 === 0 ? [[line.toLowerCase(), lines[i + 1]]] : [])) as [string, string][],
      )
      const shown = {
        body: request?.body.toString('latin1'),
        header: values.get('x-same'),
        type: values.get('content-type'),
      }
      const expected = { body: Buffer.from(payload).toString('latin1'), header, type: 'application/json' }
      expect([name, shown, values.get('content-encoding')]).toEqual([name, expected, 'identity'])
      if (name in scheduling) expect([name, values.get('x-belfry-scheduled-at')]).toEqual([name, at.toISOString()])
    }
  })
  await fc.assert(property, { numRuns: propertyRuns(30), seed: 20261127, endOnFailure: true })
}, 240_000)
