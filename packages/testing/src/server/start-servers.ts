import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { freePort, processIdentity, stopLeftoverPostgres } from '@belfry/embedded'
import { startDatabase } from './start-database.ts'

/** A PostgreSQL and the services, with a virtual clock. */
export type Servers = {
  url: string
  databaseUrl: string
  /** Settles when the services have ended. */
  ended: Promise<unknown>
  stop(): Promise<void>
}

/** The checkout, or the folder of the package with the same programs. */
const root = fileURLToPath(new URL('../../..', import.meta.url))

const prefix = 'belfry-testing-server-'

/**
 * Starts the servers in a temporary folder, after it has removed the folders of killed processes.
 * @param cache - A folder for what makes the next start faster.
 */
export async function startServers(cache: string): Promise<Servers> {
  await removeLeftovers()
  const folder = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
  // It loads its modules while the database starts.
  const service = fork(join(root, 'programs/all-in-one/dist/testing.mjs'), {
    env: { PATH: process.env.PATH, ...settings(folder) },
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(service, 'exit')
  const database = await startDatabase(root, folder, cache)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  service.send({ DATABASE_URL: database.url, PORT: String(port), PUBLIC_URL: url })
  await Promise.race([once(service, 'message'), ended.then(() => Promise.reject(new Error('Belfry did not start.')))])
  return {
    url,
    databaseUrl: database.url,
    ended,
    async stop() {
      await stopService(service, ended)
      await database.stop().finally(() => rm(folder, { recursive: true, force: true }))
    },
  }
}

function settings(folder: string): Record<string, string> {
  return {
    VIRTUAL_CLOCK: 'on',
    METRICS_PORT: '0',
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8,::1/128',
    SMTP_URL: pathToFileURL(join(folder, 'mail')).href,
    REGISTRATION: 'open',
    TIER_CHANGES: 'owner',
    DEFAULT_TIER: 'unicorn',
    LOG_LEVEL: 'warn',
  }
}

// The services of a killed process end by themselves.
async function removeLeftovers(): Promise<void> {
  const folders = (await readdir(tmpdir())).filter(name => name.startsWith(prefix))
  for (const name of folders.filter(left => processIdentity(Number.parseInt(left.slice(prefix.length), 10)) === null)) {
    const folder = join(tmpdir(), name)
    await stopLeftoverPostgres(join(folder, 'postgres'))
      .then(() => rm(folder, { recursive: true, force: true }))
      .catch(() => {}) // it belongs to another user
  }
}

async function stopService(service: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (service.exitCode === null && service.signalCode === null) service.kill('SIGKILL')
  await ended
}
