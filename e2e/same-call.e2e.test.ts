import { Belfry, parseJson } from '@belfry/client'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { useBelfry } from './belfry.ts'
import { startCommand } from './cli/run-cli.ts'
import { workerBrowser } from './dashboard/browser.ts'
import { type Call, callOf, expectReceived, generatedCall } from './same-call.ts'

const belfry = useBelfry('postgres')
let target: Receiver
let client: Belfry
let agent: Client
let context: BrowserContext
let page: Page
let home: string
beforeAll(async () => {
  target = await startReceiver()
  const apiKey = String(belfry.caller.apiKey)
  client = new Belfry({ baseUrl: belfry.url, apiKey })
  agent = new Client({ name: 'an-agent', version: '1.0.0' })
  const requestInit = { headers: { 'X-Api-Key': apiKey } }
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${belfry.url}/mcp`), { requestInit }))
  const { token, organizationId, workspaceId } = belfry.caller
  const { body: organization } = await belfry.call('GET', `/api/v1/organizations/${organizationId}`)
  home = `${belfry.url}/${organization.slug}/w/${workspaceId}`
  context = await (await workerBrowser()).newContext({ locale: 'en-GB' })
  await context.addCookies([{ name: 'belfry_session', value: String(token), url: belfry.url }])
  page = await context.newPage()
})
afterAll(async () => {
  await context?.close()
  await agent?.close()
  await target?.close()
})

type Door = (call: Call) => Promise<unknown>

const created = async (method: string, path: string, body: string) => {
  const answer = await belfry.call(method, path, body)
  expect([answer.status, answer.text]).toEqual([expect.toSatisfy((status: number) => status < 300), answer.text])
  return answer.body
}
const run = async (args: string[], input = '') => {
  const { code, out, error } = await startCommand(belfry, args, input).ended
  // An export of one of the projects leaves out the objects of the others.
  expect([code, error.replace(/^Left out, because others own them: .*\n$/, '')]).toEqual([0, ''])
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

// A browser takes its time, so the task is a later one until its form is gone.
const fillForm: Door = async ({ url, payload, headers, at }) => {
  await page.goto(`${home}/tasks/new`)
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('same')
  await page.getByRole('textbox', { name: 'When', exact: true }).fill(at.toISOString())
  await page.getByLabel('Target URL').fill(url)
  for (const [index, [name, value]] of Object.entries(headers).entries()) {
    await page.getByRole('button', { name: 'Add header' }).click()
    await page.getByLabel(`Header ${index + 1} name`).fill(name)
    await page.getByLabel(`Header ${index + 1} value`).fill(value)
  }
  await page.getByLabel('Payload').fill(payload)
  await page.getByRole('button', { name: 'Create task' }).click()
  await page.getByRole('heading', { name: 'same', exact: true }).waitFor()
  const path = `/api/v1/scheduler/tasks/${page.url().split('/').at(-1)}`
  expect((await belfry.call('GET', path)).body.execute_at).toBe(at.toISOString())
  expect((await belfry.call('PATCH', path, { execute_at: inMs(1_000) })).status).toBe(200)
}

it('the same call by each door leaves the same bytes at the target', async () => {
  let number = 0
  const property = fc.asyncProperty(generatedCall, async generated => {
    const path = `/same/${++number}`
    const at = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2_000)
    const callBy = (name: string, time = at) =>
      callOf(generated, target.url(`${path}/${encodeURIComponent(name)}?a=b%20c&d=+e`), time)
    const doors = Object.entries({ ...scheduling, ...publishing })
    await Promise.all(doors.map(([name, door]) => door(callBy(name))))
    for (const [name] of doors) await expectReceived(target, callBy(name), { hasTime: name in scheduling })
    if (number > 3) return
    const byForm = callBy('dashboard', new Date('2098-12-31T18:00:05.678Z'))
    await fillForm(byForm)
    await expectReceived(target, byForm, { hasTime: false })
  })
  await fc.assert(property, { numRuns: propertyRuns(30), seed: 20261127, endOnFailure: true })
}, 240_000)
