import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import type { LightBullmqOptions } from '../baselines/light-bullmq.ts'
import type { LightPgBossOptions } from '../baselines/light-pg-boss.ts'
import { createApiKey } from '../lab/api-caller.ts'
import { type ServiceName, startBelfry } from '../lab/belfry.ts'
import type { Child } from '../lab/child-process.ts'
import type { Database } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { type SmallServers, startSmallServers } from '../lab/small-servers.ts'
import type { ProcessGroups } from '../measure/cpu-time.ts'

/** Something that takes events at `POST /api/events` and delivers each to its target, with all its processes. */
export type SmallInstallation = {
  apiUrl: string
  createApiKey(): Promise<string>
  servers: SmallServers
  /** All its processes: Node, PostgreSQL, and Redis if it has one. */
  groups: ProcessGroups
  stop(): Promise<void>
}

/** Starts a small installation on servers of its own. */
export type StartInstallation = (lab: Lab) => Promise<SmallInstallation>

const concurrency = 200

/** Belfry with the given processes. */
export function smallBelfry(services: ServiceName[], { withRedis }: { withRedis: boolean }): StartInstallation {
  return lab =>
    onSmallServers(lab, withRedis, async servers => {
      const redisUrl = servers.redis?.url ?? null
      const belfry = await startBelfry(lab, servers.database, {
        services,
        concurrency,
        redisUrl,
        node: ownNode(lab),
      })
      return {
        apiUrl: belfry.apiUrl,
        createApiKey: () => createApiKey(belfry.apiUrl),
        pids: [...new Set(services)].flatMap(belfry.pids),
        stop: belfry.stop,
      }
    })
}

/** pg-boss behind an endpoint of one Node process that also delivers. */
export function smallPgBoss(): StartInstallation {
  return lab =>
    onSmallServers(lab, false, ({ database }) =>
      startBaseline(database, options => {
        const argument: LightPgBossOptions = { ...options, databaseUrl: database.url }
        return lab.startProgram('light-pg-boss', argument, ownNode(lab))
      }),
    )
}

/** The same with BullMQ. */
export function smallBullmq(): StartInstallation {
  return lab =>
    onSmallServers(lab, true, ({ database, redis }) =>
      startBaseline(database, options => {
        const argument: LightBullmqOptions = { ...options, databaseUrl: database.url, redisUrl: redis?.url ?? '' }
        return lab.startProgram('light-bullmq', argument, ownNode(lab))
      }),
    )
}

// A copy: the pages of the program are then shared by the processes of the installation only, not by those of the bench,
// so all of them count as its memory.
function ownNode({ folder }: Lab): string {
  const copy = join(folder, 'node')
  if (!existsSync(copy)) copyFileSync(process.execPath, copy)
  return copy
}

type Running = Pick<SmallInstallation, 'apiUrl' | 'createApiKey' | 'stop'> & { pids: number[] }

async function onSmallServers(
  lab: Lab,
  withRedis: boolean,
  start: (servers: SmallServers) => Promise<Running>,
): Promise<SmallInstallation> {
  const servers = await startSmallServers(lab, { withRedis })
  try {
    const { pids, stop, ...running } = await start(servers)
    return {
      ...running,
      servers,
      groups: { node: pids, ...servers.groups },
      async stop() {
        await stop()
        await servers.close()
      },
    }
  } catch (error) {
    await servers.close()
    throw error
  }
}

async function startBaseline(
  { pool }: Database,
  start: (options: Omit<LightPgBossOptions, 'databaseUrl'>) => Promise<Child>,
): Promise<Running> {
  const [port, key] = [await freePort(), randomBytes(24).toString('hex')]
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM workspaces LIMIT 1')
  const { pid, stop } = await start({ port, key, concurrency, workspaceId: rows[0]?.id ?? '' })
  return { apiUrl: `http://127.0.0.1:${port}`, createApiKey: async () => key, pids: [pid], stop }
}
