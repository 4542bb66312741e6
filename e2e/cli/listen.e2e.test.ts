import { Belfry, webhooks } from '@belfry/client'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { useBelfry } from '../belfry.ts'
import { startCommand } from './run-cli.ts'

const installation = useBelfry('postgres')
let belfry: Belfry
let target: Receiver
let local: Receiver
beforeAll(async () => {
  target = await startReceiver()
  belfry = new Belfry({ apiKey: installation.caller.apiKey ?? '', baseUrl: installation.url })
})
afterAll(() => target?.close())
beforeEach(async () => {
  local = await startReceiver()
})
afterEach(() => local?.close())

const headersOf = (rawHeaders: readonly string[]) =>
  Object.fromEntries(
    rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1] ?? '']] : [])),
  )

it('sends a copy of each delivery to this machine with the same path, headers and bytes, and a valid signature', async () => {
  const listening = startCommand(installation, [
    'listen',
    String(local.port),
    '--topic',
    'orders.paid',
    '--from',
    '127.0.0.1',
    '--json',
  ])
  await listening.prints(/Forwarding deliveries/)
  target.answer('/hooks/a', { status: 500 })
  local.answer('/hooks/a', { status: 418 })
  const payload = '{"größe":12345678901234567890}'
  const retry = { maxRetries: 0 }
  const { tasks } = await belfry.events.publish({
    topic: 'orders.paid',
    payload,
    targetUrl: target.url('/hooks/a?b=1'),
    headers: { 'X-Own': 'yes' },
    retry,
  })
  await belfry.events.publish({ topic: 'orders.other', payload: {}, targetUrl: target.url('/hooks/other'), retry })
  await belfry.events.publish({ topic: 'orders.paid', payload: {}, targetUrl: target.url('//elsewhere/x'), retry })
  await local.waitFor(() => local.requests.length === 2, 20_000)
  const [copy] = local.requestsTo('/hooks/a')
  const [original] = target.requestsTo('/hooks/a')
  if (!copy || !original) throw new Error('Nothing was received.')
  expect([copy.method, copy.target, copy.body.toString()]).toEqual(['POST', '/hooks/a?b=1', payload])
  const { host: _, connection: __, ...sent } = headersOf(original.rawHeaders)
  expect(headersOf(copy.rawHeaders)).toMatchObject({ 'x-own': 'yes', 'webhook-id': tasks[0]?.id })
  expect(headersOf(copy.rawHeaders)['webhook-signature']).toBe(sent['webhook-signature'])
  const { data } = await belfry.workspaces.signingSecrets.list(installation.caller.workspaceId ?? '')
  const verified = await webhooks.verify(copy.body, headersOf(copy.rawHeaders), data[0]?.secret ?? '')
  expect(verified.id).toBe(tasks[0]?.id)

  const { code, out } = await listening.interrupt()
  expect(code).toBe(0)
  const lines = out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(lines.find(({ taskId }) => taskId === tasks[0]?.id)).toMatchObject({
    local: { status: 418 },
    belfry: { status: 'failed', responseStatus: 500 },
  })
  // The answer of this machine has no effect.
  expect(await belfry.tasks.get(tasks[0]?.id ?? '')).toMatchObject({ state: 'dead', lastRun: { responseStatus: 500 } })
})

it('forwards nothing that goes to another host or path than expected', async () => {
  const flags = ['--from', `127.0.0.1:${target.port}`, '--path-prefix', '/own']
  const listening = startCommand(installation, ['listen', String(local.port), ...flags])
  await listening.prints(/Forwarding deliveries/)
  for (const path of ['/other', '/ownership', '/own/hook'])
    await belfry.events.publish({ topic: 'a', payload: {}, targetUrl: target.url(path) })
  const elsewhere = await startReceiver()
  await belfry.events.publish({ topic: 'a', payload: {}, targetUrl: elsewhere.url('/own/hook') })
  await local.waitFor(() => local.requestsTo('/own/hook').length === 1, 20_000)
  await listening.prints(/POST \/own\/hook/)
  expect((await listening.interrupt()).code).toBe(0)
  await elsewhere.close()
  expect(local.requests).toHaveLength(1)
})

it('says why it cannot send a copy unchanged, and that no process listens on the port', async () => {
  const { workspaceId = '' } = installation.caller
  await belfry.workspaces.secrets.put(workspaceId, 'TOKEN', 's3cret-value')
  const listening = startCommand(installation, ['listen', 'http://127.0.0.1:1', '--path', '/one'])
  await listening.prints(/Forwarding deliveries/)
  const targetUrl = target.url('/secret')
  await belfry.events.publish({ topic: 'a', payload: {}, targetUrl, headers: { Authorization: '{{ secrets.TOKEN }}' } })
  await belfry.events.publish({ topic: 'a', payload: {}, targetUrl })
  await listening.prints(/ECONNREFUSED[^\n]*POST \/one/)
  await listening.prints(/skipped[^\n]*secrets/)
  expect((await listening.interrupt()).code).toBe(0)
})
