import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { Client, Receiver } from '@upstash/qstash'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Belfry, startBelfry } from '../belfry.ts'
import { useStage } from './stage.ts'

const devToken = 'eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0='
const account = join(tmpdir(), `belfry-account-${randomUUID()}.json`)
const port = await freePort()
const belfry = {} as Belfry
beforeAll(async () => {
  const env = { QSTASH_API: 'on', FIRST_ACCOUNT: account, QSTASH_DEV_PORT: String(port) }
  Object.assign(belfry, await startBelfry('postgres', { services: ['all-in-one'], env }))
})
afterAll(() => belfry.close?.())
const stage = useStage(belfry)
const dev = (path: string, headers: Record<string, string> = { Authorization: `Bearer ${devToken}` }, method = 'GET') =>
  fetch(`http://127.0.0.1:${port}${path}`, { method, headers })

beforeAll(() => {
  vi.stubEnv('QSTASH_DEV', 'true')
  vi.stubEnv('QSTASH_DEV_PORT', String(port))
})
afterAll(() => void vi.unstubAllEnvs()) // the process runs other files next

it('accepts the public token from this machine only, once the first account exists, and serves an unchanged app', async () => {
  await rm(account)
  expect((await dev('/v2/keys')).status).toBe(401)
  await writeFile(account, JSON.stringify({ apiKey: stage.belfry.caller.apiKey }))
  expect((await dev('/v2/keys')).status).toBe(200)

  const { messageId } = await new Client().publishJSON({ url: stage.target.url('/dev'), body: { a: 1 } })
  const [request] = await stage.received('/dev')
  expect(request?.headers['upstash-message-id']).toBe(messageId)
  const signed = {
    signature: request?.headers['upstash-signature'] ?? '',
    body: '{"a":1}',
    url: stage.target.url('/dev'),
  }
  expect(await new Receiver().verify(signed)).toBe(true)

  expect((await dev(`/v2/queues?qstash_token=${devToken}`, {})).status).toBe(401)
  expect((await dev('/v2/queues', { Authorization: `Bearer ${devToken}`, 'X-Forwarded-For': '10.0.0.1' })).status).toBe(
    401,
  )
  expect((await dev('/v2/queues', { Authorization: `Bearer ${devToken}`, 'X-Belfry-Depth': '1' })).status).toBe(401)
  expect((await dev('/v2/queues', { Authorization: 'Bearer other' })).status).toBe(401)
  expect((await dev('/v2/queues')).status).toBe(200)
})

it('is no target of another account, although loopback is open', async () => {
  const other = await belfry.anotherCaller()
  const task = {
    name: 'Keys',
    url: `http://127.0.0.1:${port}/v2/keys`,
    method: 'GET',
    execute_at: new Date(Date.now() + 1_500).toISOString(),
    headers: { Authorization: `Bearer ${devToken}` },
    retry: { max_retries: 0 },
  }
  const { status, body } = await belfry.call('POST', '/api/v1/scheduler/tasks', task, other)
  expect([status, body.errors]).toEqual([201, undefined])
  const read = async () => (await belfry.call('GET', `/api/v1/scheduler/tasks/${body.id}`, undefined, other)).body
  await expect.poll(async () => (await read()).state, { timeout: 30_000 }).toBe('dead')
  const runs = await belfry.call('GET', `/api/v1/scheduler/runs?task_id=${body.id}`, undefined, other)
  expect(runs.body.data[0].error.code).toBe('blocked_address')
})
