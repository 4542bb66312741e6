import { readProcessState } from '@belfry/db/dispatchers/process-state'
import { openPool } from '@belfry/db/postgres/pool'
import { freePort } from '@belfry/embedded'
import { createLogger, openHost } from '@belfry/runtime'
import { createTestDatabase } from '@belfry/test-support'
import { expect, it, onTestFinished, vi } from 'vitest'
import { loadConfig } from '../src/config.ts'
import { startScheduler } from '../src/start-scheduler.ts'

it('warns once, and in /readyz, of a database that may lose tasks, and still works', async () => {
  const database = await createTestDatabase() // on a server without fsync
  const port = await freePort()
  const log = createLogger('scheduler', 'silent')
  const warn = vi.spyOn(log, 'warn')
  const stop = new AbortController()
  const config = loadConfig({ DATABASE_URL: database.url, METRICS_PORT: String(port) })
  const host = await openHost(log, stop.signal, {
    roles: ['scheduler'],
    operatorListen: config.operatorListen,
    traces: false,
  })
  const service = await startScheduler(config, log, host)
  onTestFinished(async () => {
    await host.close()
    await database.drop()
  })
  const findings = ['fsync is off', 'full_page_writes is off', 'synchronous_commit is off'].map(text =>
    expect.stringContaining(text),
  )
  expect(warn.mock.calls.filter(([, event]) => event === 'database.unfit')).toEqual([
    [{ advice: findings }, 'database.unfit'],
  ])
  const response = await fetch(`http://127.0.0.1:${port}/readyz`)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ ready: true, warnings: findings })
  const pool = openPool(database.url, { max: 1, onError: error => console.error(error) })
  onTestFinished(() => pool.end())
  await expect.poll(() => readProcessState(pool), { timeout: 5_000 }).toMatchObject({ schedulers: { live: 1 } })
  stop.abort()
  await service.drain()
  expect((await readProcessState(pool)).schedulers.live).toBe(0)
})
