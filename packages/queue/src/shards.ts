import { hash } from 'node:crypto'

/** Shards that a queue can have at most. */
export const mostShards = 64

/** The shard that a job belongs to: the same job always goes to the same one, so that the store can refuse it twice. */
export function shardOf(jobId: string, shards: number): number {
  return shards === 1 ? 0 : Number.parseInt(hash('sha1', jobId).slice(0, 8), 16) % shards
}

/**
 * The key prefix of a shard. Its hash tag, which is all that counts in it for a cluster, differs from shard to shard; the
 * first shard is what a queue without shards is.
 */
export function shardPrefix(prefix: string, shard: number): string {
  return shard === 0 ? prefix : prefix.replace(/\}$/, `:${shard}}`)
}
