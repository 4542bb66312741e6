import { openQueue, prefixOf, type QueueConnection } from './connection.ts'
import { inspectRedis } from './inspect-redis.ts'

export const dispatchQueueName = 'dispatch'

/** A task that has to be dispatched: its id (`task_...`) and its time in epoch milliseconds. */
export type DueTask = { id: string; dueAt: number }

/** What a job of the dispatch queue carries: ids and times of tasks, never what they contain. */
export type DispatchJob = { tasks: ReadonlyArray<readonly [id: string, dueAt: number]> }

/**
 * Jobs start this much ahead of their tasks; the dispatcher waits out the rest. It hides BullMQ's own lateness, which
 * is 30 to 110 ms for delayed jobs.
 */
export const leadMs = 250

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
   * Makes sure that each task has a delayed job of its own. Adding the same task for the same time again changes
   * nothing. Rejects at once while the store is away.
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
  close(): Promise<void>
}

export function openDispatchQueue(connection: QueueConnection): DispatchQueue {
  const { bull, redis, reachable, close } = openQueue<DispatchJob>(connection, dispatchQueueName)
  const markerKey = `${prefixOf(connection)}:marker`

  return {
    isVolatile: redis !== null,
    async schedule(tasks, now) {
      await reachable()
      await bull.addBulk(tasks.map(task => toJob(task, now)))
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
    close,
  }
}

// The id names the task and its time: a second job for the same attempt is refused by the store, and a new time (a
// retry, a changed execute_at) is a new job.
function toJob({ id, dueAt }: DueTask, now: number) {
  return {
    name: dispatchQueueName,
    data: { tasks: [[id, dueAt] as const] },
    opts: { jobId: `${id}-${dueAt.toString(36)}`, delay: Math.max(0, Math.round(dueAt - leadMs - now)) },
  }
}
