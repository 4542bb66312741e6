import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { endWithThisProcess, findInstalledPostgres, type Postgres, startPostgres, startRedis } from '@belfry/embedded'
import { Redis } from 'ioredis'

/** The servers that all sides of all benchmarks share. */
export type Servers = { postgres: Postgres; redisPid: number; redisUrl: string; redis: Redis; close(): Promise<void> }

// Everything durable, as in production; more memory and fewer checkpoints than a laptop's default, for all sides alike.
// The extension only counts where a database asks for it.
const settings = {
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  checkpoint_timeout: '30min',
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'none',
}

/**
 * Starts PostgreSQL as the benchmarks want it: the one that is installed, if there is one, because the embedded one is
 * compiled to be small rather than fast.
 */
export async function startBenchPostgres(dataDir: string, more: Record<string, string> = {}): Promise<Postgres> {
  const postgres = await startPostgres({
    dataDir,
    settings: { ...settings, ...more },
    binaries: findInstalledPostgres() ?? undefined,
  })
  const pid = endWithThisProcess(postgres.pid)
  return {
    ...postgres,
    async stop() {
      await postgres.stop()
      pid.forget()
    },
  }
}

/** Starts PostgreSQL and Redis in a folder. */
export async function startServers(folder: string): Promise<Servers> {
  const postgres = await startBenchPostgres(join(folder, 'postgres'))
  const server = await startRedis({ dataDir: join(folder, 'redis'), persist: true })
  const pid = endWithThisProcess(server.pid)
  const redis = new Redis(server.url)
  return {
    postgres,
    redisPid: server.pid,
    redisUrl: server.url,
    redis,
    async close() {
      redis.disconnect()
      await server.stop()
      pid.forget()
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
