import { setTimeout as sleep } from 'node:timers/promises'
import { dispatchQueueName } from './dispatch-queue.ts'
import type { RedisClient } from './open-redis.ts'
import { mostShards, shardPrefix } from './shards.ts'

export type OldShards = { close(): Promise<void> }

// Twice as long after each look that found nothing.
const minPauseMs = 5_000
const maxPauseMs = 20_000
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
    const found = await Promise.all(others.map(async shard => ({ shard, hasJobs: await hasJobs(shard) })))
    if (stop.signal.aborted) return
    for (const { shard, hasJobs } of found) {
      const worker = opened.get(shard)
      if (hasJobs && !worker) opened.set(shard, open(shard))
      if (!hasJobs && worker && opened.delete(shard)) await worker.close()
    }
  }

  async function hasJobs(shard: number): Promise<boolean> {
    const keys = states.map(state => `${shardPrefix(prefix, shard)}:${dispatchQueueName}:${state}`)
    return (await redis.exists(...keys)) > 0
  }

  async function run(): Promise<void> {
    for (let pauseMs = minPauseMs; !stop.signal.aborted; ) {
      await look().catch(() => {}) // away, which the client tells; the next look comes soon
      await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => {}) // ends early when it is to stop
      pauseMs = opened.size > 0 ? minPauseMs : Math.min(pauseMs * 2, maxPauseMs)
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
