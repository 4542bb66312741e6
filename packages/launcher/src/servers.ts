import { join } from 'node:path'
import { findRedisServer, type Postgres, type Redis, startPostgres, startRedis } from '@belfry/embedded'
import type { Config } from './config.ts'
import { keepServer } from './keep-server.ts'
import type { OpenStack } from './open-stack.ts'
import { PlainError } from './plain-error.ts'

/** What the services work on, and how to call it to the user. */
export type Servers = { databaseUrl: string; redisUrl: string | null; database: string; queue: string }

/** Starts the servers that the user has not given, both at once, with ports beside the API's. */
export async function startServers(config: Config, port: number, opened: OpenStack): Promise<Servers> {
  const embedded = {
    postgres: (wanted: number) => startPostgres({ ...place(config, 'postgres'), port: wanted }),
    redis: (wanted: number) => startRedis({ ...place(config, 'redis'), port: wanted, persist: true }),
  }
  const needsRedis = !config.redisUrl && findRedisServer() !== null
  // Both must be known before one's failure ends the start, or the other one would be forgotten.
  const [postgres, redis] = await Promise.allSettled([
    config.databaseUrl ? null : embedded.postgres(beside(port, 2)),
    needsRedis ? embedded.redis(beside(port, 3)) : null,
  ])
  if (postgres.status === 'fulfilled' && postgres.value) {
    opened.push(keepServer('PostgreSQL', postgres.value, embedded.postgres))
  }
  if (redis.status === 'fulfilled' && redis.value) {
    opened.push(keepServer('Redis', redis.value, embedded.redis))
  }
  if (postgres.status === 'rejected') throw plain(postgres.reason)
  if (redis.status === 'rejected') throw plain(redis.reason)
  return describe(config, postgres.value, redis.value)
}

function place({ dataDir }: Config, name: string) {
  return { dataDir: join(dataDir, name), logFile: join(dataDir, 'logs', `${name}.log`) }
}

// What keeps a server from starting lies outside our code: its message says it all.
function plain(reason: unknown): PlainError {
  return new PlainError(reason instanceof Error ? reason.message : String(reason))
}

function describe(config: Config, postgres: Postgres | null, redis: Redis | null): Servers {
  return {
    databaseUrl: config.databaseUrl ?? postgres?.url() ?? '',
    redisUrl: config.redisUrl ?? redis?.url ?? null,
    database: config.databaseUrl ? withoutPassword(config.databaseUrl) : `embedded PostgreSQL, ${postgres?.url()}`,
    queue: config.redisUrl
      ? withoutPassword(config.redisUrl)
      : redis
        ? `private Redis, ${redis.url}`
        : 'PostgreSQL (no redis-server or valkey-server 6.2 or newer on PATH)',
  }
}

function withoutPassword(address: string): string {
  return Object.assign(new URL(address), { password: '' }).href
}

/** The port that lies so many behind another one; 0, which means any, when there is none. */
export function beside(port: number, distance: number): number {
  return port + distance <= 65_535 ? port + distance : 0
}
