import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { createApiKey, type ServiceName, startBelfry } from '../lab/belfry.ts'
import type { Child } from '../lab/child-process.ts'
import { createTemplate, type Database, openDatabase, readRow } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { type BenchRedis, startBenchPostgres, startBenchRedis } from '../lab/servers.ts'
import type { ProcessGroups } from '../measure/cpu-time.ts'
import type { LightBullmqOptions } from '../programs/light-bullmq.ts'
import type { LightPgBossOptions } from '../programs/light-pg-boss.ts'

/** All processes of a product that takes events at `POST /api/events` and delivers each to its target. */
export type SmallInstallation = {
  apiUrl: string
  createApiKey(): Promise<string>
  database: Database
  redis: BenchRedis | null
  /** All its processes: Node, PostgreSQL, and Redis if it has one. */
  groups: ProcessGroups
  stop(): Promise<void>
}

/** Starts a small installation on its own servers. */
export type StartInstallation = (lab: Lab) => Promise<SmallInstallation>

const concurrency = 200

/** Belfry with the given processes. */
export function smallBelfry(services: ServiceName[], { withRedis }: { withRedis: boolean }): StartInstallation {
  return lab =>
    onSmallServers(lab, withRedis, async (database, redis) => {
      const options = { services, concurrency, redisUrl: redis?.url ?? null, node: ownNode(lab) }
      const { apiUrl, pids, stop } = await startBelfry(lab, database, options)
      return { apiUrl, createApiKey: () => createApiKey(apiUrl), pids: [...new Set(services)].flatMap(pids), stop }
    })
}

/** pg-boss in one Node process with an endpoint and a worker. */
export function smallPgBoss(): StartInstallation {
  return lab =>
    onSmallServers(lab, false, database =>
      startBaseline(database, options => lab.startProgram('light-pg-boss', options, ownNode(lab))),
    )
}

/** BullMQ in one Node process with an endpoint and a worker. */
export function smallBullmq(): StartInstallation {
  return lab =>
    onSmallServers(lab, true, (database, redis) =>
      startBaseline(database, options => {
        const argument: LightBullmqOptions = { ...options, redisUrl: redis?.url ?? '' }
        return lab.startProgram('light-bullmq', argument, ownNode(lab))
      }),
    )
}

// A copy: its pages are shared only by the processes of the installation, so all of them count as its memory.
function ownNode({ folder }: Lab): string {
  const copy = join(folder, 'node')
  if (!existsSync(copy)) copyFileSync(process.execPath, copy)
  return copy
}

type Running = Pick<SmallInstallation, 'apiUrl' | 'createApiKey' | 'stop'> & { pids: number[] }

let started = 0

// New servers, with the settings that `npm start` gives them.
async function onSmallServers(
  lab: Lab,
  withRedis: boolean,
  start: (database: Database, redis: BenchRedis | null) => Promise<Running>,
): Promise<SmallInstallation> {
  started += 1
  const folders = ['postgres', 'redis'].map(name => join(lab.folder, `${name}-${started}`))
  const [postgresFolder = '', redisFolder = ''] = folders
  const postgres = await startBenchPostgres(postgresFolder)
  await createTemplate(postgres)
  const database = await openDatabase(postgres)
  const redis = withRedis ? await startBenchRedis(redisFolder) : null
  const close = async () => {
    await redis?.stop()
    await database.close()
    await postgres.stop()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const { pids, stop, ...running } = await start(database, redis)
    return {
      ...running,
      ...{ database, redis },
      groups: { node: pids, postgres: [postgres.pid], ...(redis ? { redis: [redis.pid] } : {}) },
      async stop() {
        await stop()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function startBaseline(
  database: Database,
  start: (options: LightPgBossOptions) => Promise<Child>,
): Promise<Running> {
  const [port, key] = [await freePort(), randomBytes(24).toString('hex')]
  const { id } = await readRow<{ id: string }>(database, 'SELECT id FROM workspaces LIMIT 1')
  const { pid, stop } = await start({ port, key, concurrency, databaseUrl: database.url, workspaceId: id })
  return { apiUrl: `http://127.0.0.1:${port}`, createApiKey: async () => key, pids: [pid], stop }
}
