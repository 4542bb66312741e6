import { setTimeout as sleep } from 'node:timers/promises'
import { dispatchQueueName } from './dispatch-queue.ts'
import type { RedisClient } from './open-redis.ts'
import { mostShards, shardPrefix } from './shards.ts'

export type OldShards = { close(): Promise<void> }

const lookEveryMs = 5_000
const states = ['wait', 'prioritized', 'active', 'delayed', 'paused']

/**
 * Has those shards emptied that a number of shards does not include: others may still count on them, or did so until a
 * moment ago. A shard is open from when something is seen in it until nothing is.
 */
export function emptyOldShards(
  redis: RedisClient,
  { prefix, shards }: { prefix: string; shards: number },
  open: (shard: number) => { close(): Promise<void> },
): OldShards {
  const stop = new AbortController()
  const opened = new Map<number, { close(): Promise<void> }>()
  const others = Array.from({ length: mostShards - shards }, (_, i) => shards + i)

  async function look(): Promise<void> {
    for (const shard of others) {
      const keys = states.map(state => `${shardPrefix(prefix, shard)}:${dispatchQueueName}:${state}`)
      const hasJobs = (await redis.exists(...keys)) > 0
      if (stop.signal.aborted) return
      const worker = opened.get(shard)
      if (hasJobs && !worker) opened.set(shard, open(shard))
      if (!hasJobs && worker && opened.delete(shard)) await worker.close()
    }
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      await look().catch(() => {}) // away, which the client tells; the next look comes soon
      await sleep(lookEveryMs, undefined, { signal: stop.signal }).catch(() => {}) // ends early when it is to stop
    }
  }
  void run()
  return {
    async close() {
      stop.abort()
      await Promise.all([...opened.values()].map(worker => worker.close()))
    },
  }
}
