import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDatabase, testServers } from '@belfry/test-support'
import { startRedis } from '@belfry/test-support/servers'
import pg from 'pg'
import { beforeAll } from 'vitest'
import { type Answer, type Caller, callApi, signUp } from './api-calls.ts'
import { type Installation, type InstallationOptions, type QueueBackend, startInstallation } from './installation.ts'
import type { SharedInstallation } from './shared-installations.ts'

export type { QueueBackend }

/** An installation that the files of a run share, with an account of the file. */
export type SharedBelfry = SharedInstallation & {
  /** The API key of a workspace, and the session of its owner. */
  caller: Caller
  /** Calls the API. Default: as `caller`. */
  call(method: string, path: string, body?: unknown, as?: Caller): Promise<Answer>
  /** Creates another user with an organization and a workspace. */
  anotherCaller(): Promise<Caller>
  /** Runs a statement on the database, and returns its rows. */
  execute(statement: string, values?: unknown[]): Promise<Array<Record<string, unknown>>>
}

/** A whole installation: a database, a queue, the real processes, and an account. */
export type Belfry = SharedBelfry &
  Installation & {
    /** Stops the Redis of the queue. */
    stopRedis(): Promise<void>
    close(): Promise<void>
  }

/**
 * Gives a file an account on the installation of this run: an API, a scheduler and two dispatchers. Other files use it at the
 * same time, so a test must not stop its processes, or change or count what belongs to other workspaces.
 */
export function useBelfry(backend: QueueBackend): SharedBelfry {
  const belfry = {} as SharedBelfry
  beforeAll(async () => {
    const response = await fetch(`${testServers().installationsUrl}/${backend}`)
    if (!response.ok) throw new Error(await response.text())
    Object.assign(belfry, await withAccount((await response.json()) as SharedInstallation))
  })
  return belfry
}

/** Starts an installation on a backend of the queue, for a test that stops or configures its processes. */
export async function startBelfry(backend: QueueBackend, options: InstallationOptions = {}): Promise<Belfry> {
  const database = await createTestDatabase()
  const redis = backend === 'redis' ? await startPrivateRedis() : null
  const redisUrl = redis?.url ?? null
  const installation = await startInstallation(database.url, redisUrl, options)
  return {
    ...installation,
    ...(await withAccount({ url: installation.url, databaseUrl: database.url, redisUrl })),
    stopRedis: async () => redis?.stop(),
    async close() {
      await Promise.all(installation.services.map(service => service.stop('SIGKILL')))
      await redis?.stop()
      await database.drop()
    },
  }
}

const registrationsFromHere = createHash('sha256').update('registration from 127.0.0.1').digest('base64url')

// With a mail server only the first account needs no confirmation.
const confirmEmail = 'UPDATE users SET email_confirmed_at = now() WHERE email = $1'

async function withAccount(installation: SharedInstallation): Promise<SharedBelfry> {
  const { url, databaseUrl } = installation
  // All files register from one address, which has a limit.
  const register = async (confirm?: Parameters<typeof signUp>[1]) => {
    await execute(databaseUrl, 'DELETE FROM throttles WHERE name = $1', [registrationsFromHere])
    return signUp(url, confirm)
  }
  const caller = await register()
  return {
    ...installation,
    caller,
    call: (method, path, body, as = caller) => callApi(url, as, method, path, body),
    anotherCaller: () => register(email => execute(databaseUrl, confirmEmail, [email])),
    execute: (statement, values) => execute(databaseUrl, statement, values),
  }
}

async function execute(databaseUrl: string, statement: string, values?: unknown[]) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query(statement, values)).rows
  } finally {
    await client.end()
  }
}

async function startPrivateRedis() {
  const dataDir = await mkdtemp(join(tmpdir(), 'belfry-redis-'))
  const redis = await startRedis({ dataDir, persist: false })
  return {
    url: redis.url,
    async stop() {
      await redis.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
