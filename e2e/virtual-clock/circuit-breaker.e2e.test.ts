import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { startVirtualBelfry, type VirtualBelfry } from './virtual-belfry.ts'

const password = 'operators of this test'
const tasks = '/api/v1/scheduler/tasks'

let belfry: VirtualBelfry
let target: Receiver
beforeAll(async () => {
  target = await startReceiver({ otherwise: { status: 500 } })
  belfry = await startVirtualBelfry({ OPERATOR_PASSWORD: password, LOG_LEVEL: 'info' })
})
afterAll(async () => {
  await belfry?.close()
  await target?.close()
})

it('logs the host, workspace and duration when a circuit breaker opens, and makes no attempt until it closes', async () => {
  const executeAt = inMs(3_600_000)
  const create = async (i: number) => {
    const task = {
      name: `${i}`,
      url: target.url(`/${i}`),
      method: 'POST',
      execute_at: executeAt,
      retry: { max_retries: 0 },
    }
    return (await belfry.call('POST', tasks, task)).status
  }
  expect(await Promise.all(Array.from({ length: 80 }, (_, i) => create(i)))).toEqual(Array(80).fill(201))
  await belfry.clock('advance', { to: executeAt })
  const lines = async () => belfry.output.split('\n').filter(line => line.includes('"circuit.opened"'))
  const [line] = await waitFor(lines, found => found.length > 0)
  const { host, workspace, openMs } = JSON.parse(line ?? '{}')
  expect({ host, workspace }).toEqual({ host: `127.0.0.1:${target.port}`, workspace: belfry.caller.workspaceId })
  expect(openMs).toBeGreaterThan(29_000)
  expect(openMs).toBeLessThanOrEqual(30_001)
  const inState = async (state: string) =>
    (await belfry.call('GET', `${tasks}?state=${state}&limit=100`)).body.data as Array<{ attempts: number }>
  const dead = await waitFor(
    () => inState('dead'),
    found => found.length >= 20,
  )
  const listWaiting = async () => [...(await inState('pending')), ...(await inState('retrying'))]
  // A claim that was in flight when the circuit breaker opened may still start an attempt.
  await waitFor(listWaiting, found => found.length === 80 - target.requests.length)
  expect(await inState('processing')).toEqual([])
  const waiting = await listWaiting()
  expect(dead.length).toBeLessThan(80)
  expect(waiting.every(({ attempts }) => attempts === 0)).toBe(true)
  expect(target.requests.length).toBe(80 - waiting.length)
}, 60_000)

it('lists open circuit breakers to operators, who can close them at once', async () => {
  const authorization = `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`
  const ask = async (method: string, path: string) => {
    const response = await fetch(`${belfry.url}/admin/hosts${path}`, { method, headers: { authorization } })
    return { status: response.status, body: await response.json() }
  }
  const { workspaceId } = belfry.caller
  const host = `127.0.0.1:${target.port}`
  const listed = await waitFor(
    async () => (await ask('GET', '')).body.data as unknown[],
    hosts => hosts.length > 0,
  )
  expect(listed).toMatchObject([{ workspace_id: workspaceId, host, dispatchers: 1 }])
  const called = target.requests.length
  expect(await ask('DELETE', `/${workspaceId}/${encodeURIComponent(host)}`)).toEqual({
    status: 202,
    body: { dispatchers: 1 },
  })
  await waitFor(
    async () => belfry.output,
    output => output.includes('"circuit.reset"'),
  )
  // More than a single probe: half of twenty attempts must fail before it opens again.
  await waitFor(
    async () => target.requests.length,
    count => count >= called + 2,
  )
}, 60_000)
