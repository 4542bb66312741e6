import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toId } from '@belfry/domain/id'
import { freePort } from '@belfry/embedded'
import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'
import { type RunningService, spawnService } from './processes.ts'

const tasks = '/api/v1/scheduler/tasks'

let belfry: Belfry | undefined
let target: Receiver
beforeEach(async () => {
  target = await startReceiver()
})
afterEach(async () => {
  await belfry?.close()
  await target.close()
})

async function schedule({ call }: Belfry, path: string, aheadMs = 1000): Promise<string> {
  const task = { name: path, url: target.url(path), method: 'POST', execute_at: inMs(aheadMs) }
  const { status, body } = await call('POST', tasks, task)
  expect(status).toBe(201)
  return body.id
}

const succeeds = ({ call }: Belfry, id: string, timeoutMs = 10_000) =>
  waitFor(
    async () => (await call('GET', `${tasks}/${id}`)).body.state,
    state => state === 'success',
    timeoutMs,
  )

describe.each(queueBackends())('the process with all roles, with the queue on %s', backend => {
  it('delivers, is ready, counts and logs for each role, and ends with code 0', async () => {
    const port = await freePort()
    const env = { METRICS_PORT: String(port), AUDIT_LOG_FILE: '-' }
    belfry = await startBelfry(backend, { services: ['all-in-one'], env })
    await succeeds(belfry, await schedule(belfry, '/once'))
    const [service] = belfry.services as [RunningService]
    await waitFor(
      async () => service.output,
      output => /^\{"log":"audit".*"action":"api_key.created"/m.test(output),
    )
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
    expect(ready.status).toBe(200)
    expect(await ready.json()).toMatchObject({ ready: true, checks: { database: 'ok' }, egress: { proxy: null } })
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    expect(rolesIn(metrics)).toEqual(['api', 'dispatcher', 'scheduler'])
    expect(metrics.match(/^process_start_time_seconds.*/gm)).toEqual([expect.stringContaining('{service="belfry"}')])
    expect(metrics.match(/^# TYPE belfry_pool_max .*/gm)).toEqual(['# TYPE belfry_pool_max gauge'])
    const bounds = ['1', '2', '4', '8', '16', '32', '64', '128', '256', '512', '+Inf']
    expect(boundsIn(metrics, 'record', 'dispatcher')).toEqual(bounds)
    expect(boundsIn(metrics, 'create', 'api')).toEqual(bounds)
    expect(await service.stop('SIGTERM')).toBe(0)
    expect(service.output).toMatch(/"service":"api".*"msg":"request.served"/)
    expect(service.output).toMatch(/"service":"dispatcher".*"msg":"attempt.finished"/)
    expect(service.output.match(/"msg":"service.stopped"/g)).toHaveLength(1)
    expect(target.requests).toHaveLength(1)
  })
})

it('finishes the calls in flight after SIGTERM, and does not repeat them', async () => {
  target.answer('/slow', { status: 200, delayMs: 2000 })
  belfry = await startBelfry('postgres', { services: ['all-in-one'] })
  const id = await schedule(belfry, '/slow')
  await target.waitFor(1, 10_000)
  expect(await belfry.services[0]?.stop('SIGTERM')).toBe(0)
  await belfry.start('all-in-one')
  await succeeds(belfry, id)
  expect(target.requests).toHaveLength(1)
})

it('loses nothing by kill -9, and repeats sent attempts in quarantine', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const AUDIT_LOG_FILE = join(folder, 'audit.jsonl')
  belfry = await startBelfry('postgres', { services: ['all-in-one'], env: { AUDIT_LOG_FILE } })
  target.answer('/hangs', { status: 200, delayMs: 60_000 })
  const lost = await schedule(belfry, '/hangs')
  const waiting = await Promise.all(Array.from({ length: 20 }, (_, i) => schedule(belfry as Belfry, `/${i}`, 3000)))
  await target.waitFor(1, 10_000)
  const cancelled = await Promise.all(
    Array.from({ length: 5 }, () => schedule(belfry as Belfry, '/cancelled', 600_000)),
  )
  for (const id of cancelled) await belfry.call('DELETE', `${tasks}/${id}`)
  expect(await belfry.services[0]?.stop('SIGKILL')).toBe('SIGKILL')
  target.answer('/hangs', { status: 200 })
  const service = await belfry.start('all-in-one')
  for (const id of waiting) await succeeds(belfry, id, 30_000)
  await succeeds(belfry, lost, 60_000)
  expect(target.requestsTo('/hangs')).toHaveLength(2)
  expect(target.requests).toHaveLength(22)
  await waitFor(async () => /"service":"quarantine".*"msg":"attempt.finished"/.test(service.output), Boolean)
  const entries = await belfry.execute('SELECT id FROM audit_log')
  expect(entries.length).toBeGreaterThan(5)
  await waitFor(
    () => readFile(AUDIT_LOG_FILE, 'utf8'),
    text => entries.every(({ id }) => text.includes(`"${toId('aud', String(id))}"`)),
    20_000,
  )
}, 120_000)

it.each([
  ['api', 'scheduler,dispatcher'],
  ['api,scheduler', 'dispatcher'],
  ['api,dispatcher', 'scheduler'],
])('delivers as two processes, %s and %s', async (first, second) => {
  const ports = [await freePort(), await freePort()]
  const settings = (ROLES: string, port = 0) => ({ ROLES, METRICS_PORT: String(port) })
  belfry = await startBelfry('postgres', { services: ['all-in-one'], env: settings(first, ports[0]) })
  await belfry.start('all-in-one', settings(second, ports[1]))
  await succeeds(belfry, await schedule(belfry, '/once'))
  const scrapes = ports.map(async port => rolesIn(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()))
  expect(await Promise.all(scrapes)).toEqual([first.split(',').sort(), second.split(',').sort()])
  expect(await Promise.all(belfry.services.map(service => service.stop('SIGTERM')))).toEqual([0, 0])
  expect(target.requests).toHaveLength(1)
})

it('rejects an unknown role with a plain message', async () => {
  const service = spawnService('all-in-one', { ROLES: 'api,worker' })
  expect(await service.ended).toBe(1)
  expect(service.output).toMatch(/ROLES: has no role "worker": choose from api, scheduler, dispatcher\n$/)
  expect(service.output).not.toContain('    at ')
})

it('names each missing variable of its roles once', async () => {
  const service = spawnService('all-in-one', {})
  expect(await service.ended).toBe(1)
  const names = [...service.output.matchAll(/^ {2}(\w+): is required/gm)].map(([, name]) => name)
  expect(names.sort()).toEqual(['DATABASE_URL', 'ENCRYPTION_KEYS', 'JWT_SECRET'])
})

// Node's own metrics are those of the process.
function rolesIn(metrics: string): string[] {
  const ours = metrics.split('\n').filter(line => line.startsWith('belfry_pool_max{'))
  return ours.map(line => String(/service="(\w+)"/.exec(line)?.[1])).sort()
}

function boundsIn(metrics: string, batch: string, service: string): string[] {
  const buckets = metrics.matchAll(/^belfry_batch_size_bucket\{le="(.+?)",(.*)\} /gm)
  return [...buckets]
    .filter(([, , rest]) => rest === `batch="${batch}",service="${service}"`)
    .map(([, le]) => String(le))
}
