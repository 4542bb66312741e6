import { hash } from 'node:crypto'

export const maxShards = 64

/** Returns the shard of a job. The same job always gets the same shard, so Redis can refuse a duplicate. */
export function shardOf(jobId: string, shards: number): number {
  return shards === 1 ? 0 : Number.parseInt(hash('sha1', jobId).slice(0, 8), 16) % shards
}

/**
 * Returns the key prefix of a shard. The hash tag of a shard decides its place in a cluster. The first shard has the
 * prefix of a queue without shards.
 */
export function shardPrefix(prefix: string, shard: number): string {
  return shard === 0 ? prefix : prefix.replace(/\}$/, `:${shard}}`)
}
