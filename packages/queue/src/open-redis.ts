import { Cluster, Redis } from 'ioredis'
import { parseRedisAddress } from './redis-address.ts'

export type RedisClient = Redis | Cluster

export type RedisOptions = { maxRetriesPerRequest: number | null; commandTimeout?: number; socketTimeout: number }

// They take some tenths of a second. A caller gives up rather than wait longer for an unreachable node.
const maxRedirections = 4

/** Opens a client of one Redis or, for a URL such as `redis+cluster://`, of a cluster. */
export function openRedis(url: string, options: RedisOptions, onError: (error: Error) => void): RedisClient {
  const { nodes, isCluster, isEncrypted, username, password } = parseRedisAddress(url)
  const retry = (times: number) => Math.min(times * 100, 1000)
  if (!isCluster) return new Redis(url, { ...options, connectTimeout: 2000, retryStrategy: retry }).on('error', onError)
  const cluster = new Cluster(nodes, {
    clusterRetryStrategy: retry,
    maxRedirections,
    slotsRefreshTimeout: 2000,
    // A certificate names a host, so nodes are dialled by name.
    ...(isEncrypted ? { dnsLookup: (address, found) => found(null, address) } : {}),
    redisOptions: {
      ...options,
      connectTimeout: 2000,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(isEncrypted ? { tls: {} } : {}),
    },
  })
  return cluster.on('error', onError)
}
