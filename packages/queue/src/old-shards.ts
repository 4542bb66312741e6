import { setTimeout as sleep } from 'node:timers/promises'
import { dispatchQueueName } from './connection.ts'
import type { RedisClient } from './open-redis.ts'
import { maxShards, shardPrefix } from './shards.ts'

// The pause doubles while the old shards are empty.
const minPauseMs = 5_000
const maxPauseMs = 20_000
const states = ['wait', 'prioritized', 'active', 'delayed', 'paused']

/**
 * Consumes the jobs of shards beyond the configured number: producers with another configuration may still use them, or
 * used them until recently. A shard has a worker from the first job that is found in it until it is empty.
 */
export function emptyOldShards(
  redis: RedisClient,
  { prefix, shards }: { prefix: string; shards: number },
  open: (shard: number) => { close(): Promise<void> },
) {
  const stop = new AbortController()
  const opened = new Map<number, { close(): Promise<void> }>()
  const others = Array.from({ length: maxShards - shards }, (_, i) => shards + i)

  async function check(): Promise<void> {
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
      await check().catch(() => {}) // Redis is unreachable: the client reports it, and the next check comes soon
      await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => {}) // a stop ends the pause
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
