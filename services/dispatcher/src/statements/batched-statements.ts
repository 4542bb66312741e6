import { isLockTimeout, isStatementTimeout, isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import { retryDatabase } from '@belfry/db/postgres/retry-database'
import {
  type Claim,
  type ClaimRequest,
  claimFromBlocks,
  type ShortClaim,
  type ShortRequest,
} from '@belfry/db/tasks/claim-tasks'
import { locateTasks, type TaskLocation } from '@belfry/db/tasks/locate-tasks'
import { type FinishedAttempt, type RecordedAttempt, recordAttempts } from '@belfry/db/tasks/record-attempts'
import { type Logger, type MicroBatch, microBatch } from '@belfry/runtime'
import { type AdvanceQueue, openAdvanceQueue } from './advance-queues.ts'
import { type ClaimOptions, isTimeout, openShortClaims } from './claim-short-tasks.ts'

/** The statements of concurrent attempts, many calls in one statement. Callers use the functions of this file. */
export type Batches = {
  locate: MicroBatch<string, TaskLocation | null>
  claim: MicroBatch<ClaimRequest, Claim | ShortClaim>
  /** The same for tasks of queues with limits, which may wait for other claims of their queues. */
  claimQueued: MicroBatch<ClaimRequest, Claim | ShortClaim>
  claimShort: (request: ShortRequest) => Promise<Claim | ShortClaim>
  record: MicroBatch<FinishedAttempt, RecordedAttempt | null>
  recordAlone: MicroBatch<FinishedAttempt, RecordedAttempt | null>
  advance: AdvanceQueue
}

export type BatchContext = { batches: Batches; log: Logger }

/** Returns where a task belongs; null when it does not exist. Waits while the database is away, until the signal is aborted. */
export function locateTask(
  { batches, log }: BatchContext,
  id: string,
  signal: AbortSignal,
): Promise<TaskLocation | null> {
  const onWait = (error: unknown) => log.warn({ err: error }, 'locate.waiting_for_database')
  return retryDatabase(() => batches.locate(id), { onWait, signal })
}

/** Claims a task as `claimTasks` does. Waits while the database is away; rejects when the process is to stop. */
export async function claimTask({ batches }: BatchContext, request: ClaimRequest): Promise<Claim> {
  for (;;) {
    const answer = await (request.isQueued ? batches.claimQueued(request) : batches.claim(request))
    if (answer.kind !== 'short') return answer
    const retried = await batches.claimShort({ ...request, organizationId: answer.organizationId })
    if (retried.kind !== 'short') return retried
  }
}

/** Records an attempt as `recordAttempts` does. Waits while the database is away, or another transaction holds the task. */
export async function recordAttempt(
  { batches, log }: BatchContext,
  attempt: FinishedAttempt,
): Promise<RecordedAttempt | null> {
  for (let record = batches.record; ; record = batches.recordAlone) {
    try {
      return await record(attempt)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      log.warn({ err: error, run: attempt.runId }, 'record.waiting_for_task')
    }
  }
}

// Bounds the duration of a statement, and of the locks that it holds. Larger batches had no measurable benefit.
export const batchSize = 512
// A statement has a cost of its own, so under load a wait of some milliseconds for more rows saves CPU. Batches of less
// than `gatherFrom` do not wait: at a moderate load they occur after any hitch.
const gatherMs = 10
const gatherFrom = 64

/**
 * Opens the batches. While the database is away, the statements in flight wait, and all others behind them. A batch that
 * exceeds the statement timeout is retried in halves.
 * @param options.concurrency - The slots of the process. While half of the calls are in flight, the others are claimed and
 * recorded.
 */
export function openBatches(options: ClaimOptions & { concurrency: number }): Batches {
  const { pool, dispatcher, log, tiers, metrics, concurrency, stop } = options
  const enough = Math.min(batchSize, Math.ceil((concurrency + batchSize) / 2))
  const gather = { from: gatherFrom, enough, ms: gatherMs }

  function open<In, Out>(
    batch: string,
    run: (items: In[]) => Promise<Out[]>,
    isTooLarge: (error: unknown) => boolean,
  ): MicroBatch<In, Out> {
    return microBatch<In, Out>({
      maxSize: batchSize,
      maxInFlight: 1, // more would make smaller batches
      gather,
      run: items => {
        metrics.batch({ batch }, items.length)
        return run(items)
      },
      split: error => isTooLarge(error) || !isTransientDatabaseError(error),
    })
  }

  async function claimAll(requests: ClaimRequest[]): Promise<Array<Claim | ShortClaim>> {
    const claims = await retryDatabase(() => claimFromBlocks(pool, { dispatcherId: dispatcher.id }, requests, tiers), {
      onWait: error => log.warn({ err: error }, 'claim.waiting_for_database'),
      isRetryable: error => isTransientDatabaseError(error) && !(requests.length > 1 && isTimeout(error)),
      signal: stop,
    })
    metrics.claimed(claims)
    return claims
  }

  // No signal: outcomes are kept until the database is back. Meanwhile no scheduler can end the attempts either, and the
  // fence of the statement refuses the record if the next attempt has started.
  function recordAll(attempts: FinishedAttempt[]): Promise<Array<RecordedAttempt | null>> {
    const isTooLarge = (error: unknown) => attempts.length > 1 && isStatementTimeout(error)
    return retryDatabase(() => recordAttempts(pool, attempts), {
      onWait: error => log.warn({ err: error, runs: attempts.length }, 'record.waiting_for_database'),
      isRetryable: error => isTransientDatabaseError(error) && !isLockTimeout(error) && !isTooLarge(error),
    })
  }

  return {
    locate: open(
      'locate',
      ids => locateTasks(pool, ids),
      () => false,
    ),
    claim: open('claim', claimAll, isTimeout),
    claimQueued: open('claim_queued', claimAll, isTimeout),
    claimShort: openShortClaims(options),
    record: open('record', recordAll, isStatementTimeout),
    // Attempts whose tasks another transaction holds must not delay the others. So each is retried alone, one after the
    // other, and the remaining connections stay free for everything else.
    recordAlone: microBatch({ maxSize: 1, maxInFlight: 2, run: recordAll, split: () => false }),
    advance: openAdvanceQueue(options),
  }
}
