import { Cluster, Redis } from 'ioredis'
import { parseRedisAddress } from './redis-address.ts'

export type RedisClient = Redis | Cluster

export type RedisOptions = { maxRetriesPerRequest: number | null; commandTimeout?: number; socketTimeout: number }

// Some tenths of a second: whoever waits longer than that for a node that is away had better do without.
const mostRedirections = 4

/** Opens a client of one Redis, or of a cluster when the URL says that it is one. */
export function openRedis(url: string, options: RedisOptions, onError: (error: Error) => void): RedisClient {
  const redis = open(url, options)
  redis.on('error', onError)
  return redis
}

function open(url: string, options: RedisOptions): RedisClient {
  const { nodes, isCluster, isEncrypted, username, password } = parseRedisAddress(url)
  const retry = (times: number) => Math.min(times * 100, 1000)
  if (!isCluster) return new Redis(url, { ...options, connectTimeout: 2000, retryStrategy: retry })
  return new Cluster(nodes, {
    clusterRetryStrategy: retry,
    maxRedirections: mostRedirections,
    slotsRefreshTimeout: 2000,
    // A certificate is made out to a name, so nodes are dialled by the names that they have.
    ...(isEncrypted ? { dnsLookup: (address, found) => found(null, address) } : {}),
    redisOptions: {
      ...options,
      connectTimeout: 2000,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(isEncrypted ? { tls: {} } : {}),
    },
  })
}
