import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createTestDatabase } from '@belfry/test-support'
import { endWithThisProcess } from '@belfry/test-support/servers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { repositoryRoot } from './repository-root.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let service: ChildProcess
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  service.kill('SIGKILL')
  await database.drop()
})

/** Starts a scheduler whose log goes to `stdout`. */
async function start(stdout: 'pipe' | number): Promise<void> {
  const env = {
    DATABASE_URL: database.url,
    METRICS_PORT: '0',
    PUBLIC_URL: 'http://localhost',
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  }
  const file = join(repositoryRoot(), 'services/scheduler/dist/main.mjs')
  service = fork(file, { env, stdio: ['ignore', stdout, 'inherit', 'ipc'] })
  endWithThisProcess(service.pid ?? 0, once(service, 'exit'))
  expect(await once(service, 'message')).toContain('ready')
}

async function end(...signals: NodeJS.Signals[]): Promise<unknown> {
  const ended = once(service, 'exit', { signal: AbortSignal.timeout(20_000) })
  for (const signal of signals) service.kill(signal)
  return (await ended)[0]
}

it('a process ends after SIGTERM when the reader of its log has ended', async () => {
  await start('pipe')
  service.stdout?.destroy()
  expect(await end('SIGTERM')).toBe(0)
})

it('a process ends at once with a second signal when the reader of its log has ended', async () => {
  await start('pipe')
  service.stdout?.destroy()
  expect(await end('SIGTERM', 'SIGINT')).toBe(1)
})

it.runIf(existsSync('/dev/full'))('a process runs and ends when the disk of its log is full', async () => {
  await start(openSync('/dev/full', 'w'))
  expect(await end('SIGTERM')).toBe(0)
})
