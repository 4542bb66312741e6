import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import { openShards, prefixOf, type QueueConnection } from './connection.ts'
import { countBursts, type DispatchJob, type DueTask, type NewJob, toJobs } from './dispatch-job.ts'
import { inspectRedis } from './inspect-redis.ts'
import { shardOf, shardPrefix } from './shards.ts'

const maxWokenAtOnce = 100
// Per call and shard.
const maxWoken = 10_000

const firstConnectionMs = 2_000

export type DispatchQueue = ReturnType<typeof openDispatchQueue>

/** `ready` counts jobs that wait for a consumer or are with one, `delayed` jobs that are not due yet. */
export type QueueDepth = { ready: number; delayed: number }

export function openDispatchQueue(connection: QueueConnection) {
  const { bulls, redis, close } = openShards(connection)
  const ready = once(redis, 'ready').catch(() => {}) // the status shows the failure
  const firstConnection = Promise.race([ready, sleep(firstConnectionMs, undefined, { ref: false })])
  const exceedsBurst = countBursts()
  // Each shard has a copy, because one node of a cluster can lose its data alone.
  const markerKeys = bulls.map((_, shard) => `${shardPrefix(prefixOf(connection), shard)}:marker`)

  /** Rejects at once while Redis is unreachable, after a wait of up to 2 s for the first connection. */
  async function reachable(): Promise<void> {
    if (redis.status !== 'ready') await firstConnection
    if (redis.status !== 'ready') throw new Error(`The queue is not reachable (${redis.status}).`)
  }

  return {
    /**
     * Adds jobs that bring the tasks to a dispatcher in time; see `toJobs`. Adding the same tasks for the same times again
     * has no effect. Rejects at once while Redis is unreachable.
     * @param now - The database's clock in epoch milliseconds.
     */
    async schedule(tasks: readonly DueTask[], now: number): Promise<void> {
      await reachable()
      const ofShards = bulls.map((): NewJob[] => [])
      for (const job of toJobs(tasks, now, exceedsBurst)) ofShards[shardOf(job.opts.jobId, bulls.length)]?.push(job)
      await allSettled(bulls.map((bull, shard) => addAll(bull, ofShards[shard] ?? [])))
    },
    /**
     * Makes due jobs available. BullMQ's workers do so by their own machine's clock; this is for a process whose clock is
     * behind the database's.
     * @param now - The database's clock in epoch milliseconds.
     * @returns How many jobs there were.
     */
    async wakeDue(now: number): Promise<number> {
      await reachable()
      const counts = await allSettled(bulls.map(bull => wakeDueOf(bull, now)))
      return counts.reduce((sum, count) => sum + count, 0)
    },
    /** Returns the marker that `writeMarker` wrote last, or null if Redis has lost it or never had one. */
    async readMarker(): Promise<string | null> {
      await reachable()
      const [first = null, ...others] = await allSettled(markerKeys.map(key => redis.get(key)))
      return others.every(marker => marker === first) ? first : null
    },
    async writeMarker(marker: string): Promise<void> {
      await reachable()
      await allSettled(markerKeys.map(key => redis.set(key, marker)))
    },
    /** Returns the problems of Redis' configuration, as sentences for its operator. */
    async findings(): Promise<string[]> {
      await reachable()
      return inspectRedis(redis)
    },
    /** Rejects when Redis does not answer or rejects writes, e.g. because its memory is full. */
    async ping(): Promise<void> {
      await reachable()
      await Promise.all(markerKeys.map(key => redis.set(`${key}:ping`, '', 'EX', 60)))
    },
    async depth(): Promise<QueueDepth> {
      await reachable()
      const counts = await Promise.all(
        bulls.map(bull => bull.getJobCounts('waiting', 'prioritized', 'active', 'delayed')),
      )
      const sum = (name: string) => counts.reduce((total, count) => total + (count[name] ?? 0), 0)
      return { ready: sum('waiting') + sum('prioritized') + sum('active'), delayed: sum('delayed') }
    },
    close,
  }
}

async function addAll(bull: Queue<DispatchJob>, jobs: NewJob[]): Promise<void> {
  if (jobs.length > 0) await bull.addBulk(jobs)
}

// In order of their times. A job that is gone or no longer delayed has been woken by another dispatcher.
async function wakeDueOf(bull: Queue<DispatchJob>, now: number): Promise<number> {
  for (let total = 0; ; ) {
    const jobs = await bull.getDelayed(0, maxWokenAtOnce - 1)
    const due = jobs.filter(job => job.timestamp + (job.delay ?? 0) <= now)
    await Promise.allSettled(due.map(job => job.promote()))
    total += due.length
    if (due.length < maxWokenAtOnce || total >= maxWoken) return total
  }
}

// A failing shard does not stop the others.
async function allSettled<T>(work: ReadonlyArray<Promise<T> | T>): Promise<T[]> {
  const results = await Promise.allSettled(work)
  return results.map(result => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
