import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { endWithThisProcess, findInstalledPostgres, startPostgres, startRedis } from '@belfry/embedded'
import { Redis } from 'ioredis'
import type { ProcessGroups } from '../measure/cpu-time.ts'
import { createTemplate, type Database, openDatabase } from './database.ts'
import type { Lab } from './lab.ts'

/** The servers of one small installation: its own, new, with the settings that `npm start` gives them. */
export type SmallServers = {
  database: Database
  /** Null without Redis. */
  redis: { url: string; client: Redis } | null
  groups: ProcessGroups
  close(): Promise<void>
}

let started = 0

export async function startSmallServers({ folder }: Lab, { withRedis }: { withRedis: boolean }): Promise<SmallServers> {
  started += 1
  const places = { postgres: join(folder, `postgres-${started}`), redis: join(folder, `redis-${started}`) }
  const postgres = await startPostgres({
    dataDir: places.postgres,
    binaries: findInstalledPostgres() ?? undefined,
  })
  const postgresPid = endWithThisProcess(postgres.pid)
  await createTemplate(postgres)
  const database = await openDatabase(postgres)
  const redis = withRedis ? await startSmallRedis(places.redis) : null
  return {
    database,
    redis,
    groups: { postgres: [postgres.pid], ...(redis ? { redis: [redis.pid] } : {}) },
    async close() {
      await redis?.stop()
      await database.close()
      await postgres.stop()
      postgresPid.forget()
      for (const place of Object.values(places)) rmSync(place, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function startSmallRedis(dataDir: string) {
  const { pid, url, stop } = await startRedis({ dataDir, persist: true })
  const running = endWithThisProcess(pid)
  const client = new Redis(url)
  return {
    pid,
    url,
    client,
    async stop() {
      client.disconnect()
      await stop()
      running.forget()
    },
  }
}
