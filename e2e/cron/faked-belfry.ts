import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort, type Postgres, startPostgres } from '@belfry/embedded'
import { type Answer, type Caller, callApi, signUp } from '../api-calls.ts'
import { type RunningService, startService } from '../processes.ts'

const libraries = [
  ...['/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1', '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1'],
  '/usr/lib/faketime/libfaketime.so.1',
]

/** An installation whose processes, including the database, have a faked clock. */
export type FakedBelfry = {
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** Stops all processes, sets the clock, and starts them again on the same data. */
  restartAt(instant: string): Promise<void>
  /** Returns the faked time. */
  now(): number
  close(): Promise<void>
}

/** The path of libfaketime, or undefined. */
export const libfaketime = libraries.find(existsSync)

/** Starts an installation at a time. */
export async function startFakedBelfry(instant: string): Promise<FakedBelfry> {
  const dataDir = await mkdtemp(join(tmpdir(), 'belfry-faked-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const secrets = {
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  }
  let offsetMs = 0
  let postgres: Postgres
  let services: RunningService[] = []
  let caller: Caller = {}

  async function start(at: string): Promise<void> {
    offsetMs = Math.round((Date.parse(at) - Date.now()) / 1000) * 1000
    const faked = {
      LD_PRELOAD: libfaketime ?? '',
      FAKETIME: `${offsetMs < 0 ? '' : '+'}${offsetMs / 1000}`,
      DONT_FAKE_MONOTONIC: '1',
    }
    Object.assign(process.env, faked)
    postgres = await startPostgres({ dataDir: join(dataDir, 'postgres') }).finally(() => {
      for (const name of Object.keys(faked)) delete process.env[name]
    })
    const deploy = fileURLToPath(new URL('../../prisma/dist/main.mjs', import.meta.url))
    const env = { PATH: process.env.PATH, ...faked, DATABASE_URL: postgres.url() }
    await promisify(execFile)(process.execPath, [deploy, 'deploy'], { env })
    const settings = { PORT: String(port), METRICS_PORT: '0', PUBLIC_URL: url, ...secrets }
    const all = { ...faked, ...settings, DATABASE_URL: postgres.url(), ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' }
    const names = ['api', 'scheduler', 'scheduler', 'dispatcher'] as const
    services = await Promise.all(names.map(name => startService(name, all)))
  }

  async function stop(): Promise<void> {
    await Promise.all(services.map(service => service.stop('SIGTERM')))
    await postgres.stop()
  }

  await start(instant)
  caller = await signUp(url)
  return {
    call: (method, path, body) => callApi(url, caller, method, path, body),
    async restartAt(at) {
      await stop()
      await start(at)
    },
    now: () => Date.now() + offsetMs,
    async close() {
      await stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
