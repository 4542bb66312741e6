import { cpus, release, totalmem } from 'node:os'
import { findInstalledPostgres } from '@belfry/test-support/servers'
import pg from 'pg'
import type { Lab } from '../lab/lab.ts'

/** The machine that the figures were measured on. */
export type Machine = {
  cpu: string
  cores: number
  memoryGiB: number
  kernel: string
  versions: Record<string, string>
}

export async function describeMachine({ postgres, redis }: Lab): Promise<Machine> {
  const [cpu] = cpus()
  const redisVersion = /redis_version:(\S+)/.exec(await redis.client.info('server'))?.[1] ?? ''
  return {
    cpu: cpu?.model.trim() ?? '',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    versions: { node: process.versions.node, postgres: await postgresVersion(postgres.url()), redis: redisVersion },
  }
}

async function postgresVersion(connectionString: string): Promise<string> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query<{ version: string }>(`SELECT split_part(version(), ' ', 2) AS version`)
  await client.end()
  return `${rows[0]?.version}${findInstalledPostgres() ? '' : ' (embedded)'}`
}
