import { type Postgres, startPostgres } from '@belfry/embedded'
import { endWithThisProcess, findInstalledPostgres, startRedis } from '@belfry/test-support/servers'
import { Redis } from 'ioredis'

export type BenchRedis = { pid: number; url: string; client: Redis; stop(): Promise<void> }

/** Starts the installed PostgreSQL if there is one: the embedded one is built to be small, and is slower. */
export async function startBenchPostgres(dataDir: string, settings: Record<string, string> = {}): Promise<Postgres> {
  const postgres = await startPostgres({ dataDir, settings, binaries: findInstalledPostgres() ?? undefined })
  const living = endWithThisProcess(postgres.pid)
  return {
    ...postgres,
    async stop() {
      await postgres.stop()
      living.forget()
    },
  }
}

export async function startBenchRedis(dataDir: string): Promise<BenchRedis> {
  const { pid, url, stop } = await startRedis({ dataDir, persist: true })
  const living = endWithThisProcess(pid)
  const client = new Redis(url)
  return {
    pid,
    url,
    client,
    async stop() {
      client.disconnect()
      await stop()
      living.forget()
    },
  }
}
