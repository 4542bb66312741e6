import { rmSync } from 'node:fs'
import { type Postgres, startPostgres } from '@belfry/embedded'
import { endWithThisProcess, findInstalledPostgres, startRedis } from '@belfry/test-support/servers'
import { Redis } from 'ioredis'

export type BenchPostgres = Postgres & AsyncDisposable
export type BenchRedis = AsyncDisposable & { pid: number; url: string; client: Redis }

/** Starts the installed PostgreSQL if there is one: the embedded one is built to be small, and is slower. */
export async function startBenchPostgres(
  dataDir: string,
  settings: Record<string, string> = {},
): Promise<BenchPostgres> {
  const postgres = await startPostgres({ dataDir, settings, binaries: findInstalledPostgres() ?? undefined })
  endWithThisProcess(postgres.pid, postgres.exited)
  return { ...postgres, [Symbol.asyncDispose]: removal(postgres, dataDir) }
}

export async function startBenchRedis(dataDir: string): Promise<BenchRedis> {
  const redis = await startRedis({ dataDir, persist: true })
  const client = new Redis(redis.url)
  const remove = removal(redis, dataDir)
  return {
    ...redis,
    client,
    async [Symbol.asyncDispose]() {
      client.disconnect()
      await remove()
    },
  }
}

// Stops a server and removes its data.
function removal({ stop }: { stop(): Promise<void> }, dataDir: string): () => Promise<void> {
  return async () => {
    await stop()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}
