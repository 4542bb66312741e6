import type { Queue } from 'bullmq'
import { openShards, prefixOf, type QueueConnection, type QueueDepth } from './connection.ts'
import { createCrowd } from './crowd.ts'
import { type DispatchJob, type DueTask, type NewJob, toJobs } from './dispatch-job.ts'
import { inspectRedis } from './inspect-redis.ts'
import { shardOf, shardPrefix } from './shards.ts'

export const dispatchQueueName = 'dispatch'

/** Work due later than this waits in PostgreSQL and costs the queue nothing. */
export const lookAheadMs = 5 * 60_000

// A caller that adds a job right after its commit looks further ahead than the promotion does. A task whose commit and the
// promotion's reading cross each other is therefore added by at least one of the two.
const crossingMarginMs = 30_000

const maxWokenAtOnce = 100
// Per call and shard.
const maxWoken = 10_000

/**
 * Occurrences of cron jobs become tasks this much ahead of their time: before the promotion reaches it, so that the
 * promotion brings them to the queue like every other task.
 */
export const expansionLookAheadMs = lookAheadMs + 2 * crossingMarginMs

// A job would be slower than the notification that PostgreSQL sends to the dispatchers.
const minJobAheadMs = 1_000

/**
 * True when the caller that has just stored a task must add its job. PostgreSQL notifies the dispatchers of what is due
 * within a second, and the promotion adds the jobs of later tasks as their time nears.
 */
export function needsJob(dueAt: number, now: number): boolean {
  return dueAt > now + minJobAheadMs && dueAt < now + lookAheadMs + crossingMarginMs
}

export type DispatchQueue = {
  /**
   * Makes sure that the tasks come to a dispatcher in time: a task alone as a job of its own, of many those that are due
   * in the same second together. Adding the same tasks for the same times again changes nothing. Rejects at once while
   * the store is away.
   * @param now - The database's clock in epoch milliseconds.
   */
  schedule(tasks: readonly DueTask[], now: number): Promise<void>
  /**
   * Makes jobs available whose time has come. BullMQ's workers do so by their own machine's clock; this is for a process
   * whose clock is behind the database's.
   * @param now - The database's clock in epoch milliseconds.
   * @returns How many jobs there were.
   */
  wakeDue(now: number): Promise<number>
  /** Reads what `writeMarker` wrote last, or null if the store has never seen it or lost it. */
  readMarker(): Promise<string | null>
  writeMarker(marker: string): Promise<void>
  /** What is wrong with the way the store is set up, as sentences for its operator. */
  findings(): Promise<string[]>
  /** Rejects when the store does not answer. */
  ping(): Promise<void>
  depth(): Promise<QueueDepth>
  close(): Promise<void>
}

export function openDispatchQueue(connection: QueueConnection): DispatchQueue {
  const { bulls, redis, reachable, depth, close } = openShards<DispatchJob>(connection, dispatchQueueName)
  const isCrowded = createCrowd()
  // Each shard has a copy, because a node of a cluster can lose its data while the others keep theirs.
  const markerKeys = bulls.map((_, shard) => `${shardPrefix(prefixOf(connection), shard)}:marker`)

  return {
    async schedule(tasks, now) {
      await reachable()
      const ofShards = bulls.map((): NewJob[] => [])
      for (const job of toJobs(tasks, now, isCrowded)) ofShards[shardOf(job.opts.jobId, bulls.length)]?.push(job)
      await allSettled(bulls.map((bull, shard) => addAll(bull, ofShards[shard] ?? [])))
    },
    async wakeDue(now) {
      await reachable()
      const counts = await allSettled(bulls.map(bull => wakeDueOf(bull, now)))
      return counts.reduce((sum, count) => sum + count, 0)
    },
    async readMarker() {
      await reachable()
      const [first = null, ...others] = await allSettled(markerKeys.map(key => redis.get(key)))
      return others.every(marker => marker === first) ? first : null
    },
    async writeMarker(marker) {
      await reachable()
      await allSettled(markerKeys.map(key => redis.set(key, marker)))
    },
    async findings() {
      await reachable()
      return inspectRedis(redis)
    },
    async ping() {
      await reachable()
      await Promise.all(markerKeys.map(key => redis.exists(key)))
    },
    async depth() {
      await reachable()
      return depth()
    },
    close,
  }
}

async function addAll(bull: Queue<DispatchJob>, jobs: NewJob[]): Promise<void> {
  if (jobs.length > 0) await bull.addBulk(jobs)
}

// In order of their times. A job that is gone or no longer delayed was woken by another dispatcher.
async function wakeDueOf(bull: Queue<DispatchJob>, now: number): Promise<number> {
  for (let total = 0; ; ) {
    const jobs = await bull.getDelayed(0, maxWokenAtOnce - 1)
    const due = jobs.filter(job => job.timestamp + (job.delay ?? 0) <= now)
    await Promise.allSettled(due.map(job => job.promote()))
    total += due.length
    if (due.length < maxWokenAtOnce || total >= maxWoken) return total
  }
}

// What one shard cannot do, the others do all the same.
async function allSettled<T>(work: ReadonlyArray<Promise<T> | T>): Promise<T[]> {
  const results = await Promise.allSettled(work)
  return results.map(result => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
