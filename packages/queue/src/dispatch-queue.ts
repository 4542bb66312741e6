import { openQueue, prefixOf, type QueueConnection, type QueueDepth } from './connection.ts'
import { createCrowd } from './crowd.ts'
import { type DispatchJob, type DueTask, toJobs } from './dispatch-job.ts'
import { inspectRedis } from './inspect-redis.ts'

export const dispatchQueueName = 'dispatch'

/** Work due later than this waits in PostgreSQL and costs the queue nothing. */
export const lookAheadMs = 5 * 60_000

// Whoever adds a job right after a commit looks further ahead than the promotion does, so that a task whose commit and
// the promotion's reading cross each other is added by one of the two at least.
const crossingMarginMs = 30_000

/**
 * Occurrences of cron jobs become tasks this much ahead of their time: before the promotion reaches it, so that the
 * promotion brings them to the queue like every other task.
 */
export const expansionLookAheadMs = lookAheadMs + 2 * crossingMarginMs

/** True when whoever has just stored a task must add its job; the promotion brings the others as their time nears. */
export function isSoon(dueAt: number, now: number): boolean {
  return dueAt < now + lookAheadMs + crossingMarginMs
}

export type DispatchQueue = {
  /**
   * Makes sure that the tasks come to a dispatcher in time: a task alone as a job of its own, of many those that are due
   * in the same second together. Adding the same tasks for the same times again changes nothing. Rejects at once while
   * the store is away.
   * @param now - The database's clock in epoch milliseconds.
   */
  schedule(tasks: readonly DueTask[], now: number): Promise<void>
  /** Reads what `writeMarker` wrote last, or null if the store has never seen it or lost it. */
  readMarker(): Promise<string | null>
  writeMarker(marker: string): Promise<void>
  /** True when the store can lose data that PostgreSQL still has. */
  readonly isVolatile: boolean
  /** What is wrong with the way the store is set up, as sentences for its operator. */
  findings(): Promise<string[]>
  /** Rejects when the store does not answer. */
  ping(): Promise<void>
  depth(): Promise<QueueDepth>
  close(): Promise<void>
}

export function openDispatchQueue(connection: QueueConnection): DispatchQueue {
  const { bull, redis, reachable, depth, close } = openQueue<DispatchJob>(connection, dispatchQueueName)
  const isCrowded = createCrowd()
  const markerKey = `${prefixOf(connection)}:marker`

  return {
    isVolatile: redis !== null,
    async schedule(tasks, now) {
      await reachable()
      await bull.addBulk(toJobs(tasks, now, isCrowded))
    },
    async readMarker() {
      await reachable()
      return redis ? redis.get(markerKey) : null
    },
    async writeMarker(marker) {
      await reachable()
      await redis?.set(markerKey, marker)
    },
    async findings() {
      await reachable()
      return redis ? inspectRedis(redis) : []
    },
    async ping() {
      await reachable()
      if (redis) await redis.ping()
      else await bull.getWaitingCount()
    },
    async depth() {
      await reachable()
      return depth()
    },
    close,
  }
}
