import type { Redis } from 'ioredis'
import pg from 'pg'

/** Totals since the servers started. */
export type ServerCounts = { transactions: number; redisCommands: number }

/**
 * Reads how many transactions a database has committed, and how many commands a Redis has run; 0 without one.
 * A PostgreSQL backend reports its transactions at most once a second, and the last ones after ten idle seconds.
 */
export async function readServerCounts(databaseUrl: string, redis: Redis | null): Promise<ServerCounts> {
  // From another database, on a connection that ends: neither these transactions nor this backend's memory count.
  const url = new URL(databaseUrl)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    const text = 'SELECT xact_commit::float8 AS transactions FROM pg_stat_database WHERE datname = $1'
    const { rows } = await client.query<{ transactions: number }>(text, [name])
    const commandStats = redis ? await redis.info('commandstats') : ''
    return { transactions: rows[0]?.transactions ?? 0, redisCommands: countCommands(commandStats) }
  } finally {
    await client.end()
  }
}

/**
 * Adds up the calls in the `commandstats` section of Redis INFO. A script and the commands that it runs all count. INFO
 * does not, because reading the totals takes one.
 */
export function countCommands(commandStats: string): number {
  const calls = commandStats.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm)
  return [...calls].reduce((total, [, name, count]) => (name === 'info' ? total : total + Number(count)), 0)
}
