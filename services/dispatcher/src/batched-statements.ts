import {
  type Claim,
  type ClaimRequest,
  claimFromBlocks,
  type DispatcherRow,
  type FinishedAttempt,
  isLockTimeout,
  isStatementTimeout,
  isTransientDatabaseError,
  locateTasks,
  type Pool,
  type RecordedAttempt,
  recordAttempts,
  type ShortClaim,
  type TaskLocation,
} from '@belfry/db'
import type { Tiers } from '@belfry/domain'
import { type Logger, microBatch } from '@belfry/runtime'
import { claimShortTasks } from './claim-short-tasks.ts'
import { askDatabase } from './intake/ask-database.ts'
import type { Metrics } from './metrics.ts'
import { outlastOutage } from './outlast-outage.ts'

/** What every attempt asks of the database, many calls to a statement. */
export type BatchedStatements = {
  /** `locateTasks`. */
  locate(id: string): Promise<TaskLocation | null>
  /** Claims a task as `claimTasks` does. Waits for the database while that is away; rejects when the process is to stop. */
  claim(request: ClaimRequest): Promise<Claim>
  /** `recordAttempts`, which waits for the database while that is away, and for a transaction that holds the task. */
  record(attempt: FinishedAttempt): Promise<RecordedAttempt | null>
}

// A bound on what one statement holds, and holds up. What a larger one saves has not been told from noise.
export const batchSize = 512
// A statement has a cost of its own besides that of its rows, so under load some milliseconds of waiting save CPU. What
// gathers after a moment's hitch at a moderate load is less than `gatherFrom`, so that nobody waits then.
const gatherMs = 10
const gatherFrom = 64

/**
 * Gathers the calls of concurrent attempts. While the database is away, the batches in flight wait and all others behind
 * them. A batch that takes longer than a statement may is tried in halves.
 */
export function batchStatements(options: {
  pool: Pool
  dispatcher: DispatcherRow
  log: Logger
  tiers: Tiers
  metrics: Metrics
  /** Calls at a time. With a batch ahead of them: while one half is under way, the other half is claimed and recorded. */
  concurrency: number
  stop: AbortSignal
}): BatchedStatements {
  const { pool, dispatcher, tiers, metrics, concurrency, stop } = options
  const enough = Math.min(batchSize, Math.ceil((concurrency + batchSize) / 2))
  const gather = { from: gatherFrom, enough, ms: gatherMs }
  function inBatches<In, Out>(
    batch: string,
    run: (items: In[]) => Promise<Out[]>,
    isTooMuch: (error: unknown) => boolean,
  ) {
    return microBatch<In, Out>({
      maxSize: batchSize,
      maxInFlight: 1, // more would make smaller batches
      gather,
      run: items => {
        metrics.batch({ batch }, items.length)
        return run(items)
      },
      split: error => isTooMuch(error) || (!isTransientDatabaseError(error) && !isOfStop(error, stop)),
    })
  }
  const locate = inBatches<string, TaskLocation | null>(
    'locate',
    ids => locateTasks(pool, ids),
    () => false,
  )
  const claim = inBatches<ClaimRequest, Claim | ShortClaim>(
    'claim',
    async requests => {
      const ask = () => claimFromBlocks(pool, { dispatcherId: dispatcher.id }, requests, tiers)
      const claims = await askDatabase(options, ask, stop, error => requests.length > 1 && isTimeout(error))
      metrics.claimed(claims)
      return claims
    },
    isTimeout,
  )
  const claimShort = claimShortTasks(options)
  const recordAll = (attempts: FinishedAttempt[]) =>
    outlastOutage(
      options,
      attempts.length,
      () => recordAttempts(pool, attempts),
      error => isLockTimeout(error) || (attempts.length > 1 && isStatementTimeout(error)),
    )
  const together = inBatches('record', recordAll, isStatementTimeout)
  // Where another transaction holds the tasks of some, they must not keep the others: each has a try in turn, and then goes
  // to the end of the line. A few connections stay for everything else.
  const alone = microBatch({ maxSize: 1, maxInFlight: 2, run: recordAll, split: () => false })
  return {
    locate,
    async claim(request) {
      for (;;) {
        const answer = await claim(request)
        if (answer.kind !== 'short') return answer
        const again = await claimShort({ ...request, organizationId: answer.organizationId })
        if (again.kind !== 'short') return again
      }
    },
    async record(attempt) {
      for (let record = together; ; record = alone) {
        try {
          return await record(attempt)
        } catch (error) {
          if (!isLockTimeout(error)) throw error
          options.log.warn({ err: error, run: attempt.runId }, 'record.waiting_for_task')
        }
      }
    },
  }
}

function isTimeout(error: unknown): boolean {
  return isLockTimeout(error) || isStatementTimeout(error)
}

function isOfStop(error: unknown, stop: AbortSignal): boolean {
  return stop.aborted && error instanceof Error && error.name === 'AbortError'
}
