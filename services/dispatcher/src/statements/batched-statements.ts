import { isLockTimeout, isStatementTimeout, isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import { retryDatabase } from '@belfry/db/postgres/retry-database'
import { claimFromBlocks } from '@belfry/db/tasks/claim-tasks'
import type { Claim, ClaimRequest, ShortClaim } from '@belfry/db/tasks/claimed-row'
import { locateTasks, type TaskLocation } from '@belfry/db/tasks/locate-tasks'
import { type FinishedAttempt, type RecordedAttempt, recordAttempts } from '@belfry/db/tasks/record-attempts'
import { type Batch, microBatch, openBatch } from '@belfry/runtime'
import { openAdvanceQueue } from './advance-queues.ts'
import { type ClaimOptions, isTimeout, openShortClaims } from './claim-short-tasks.ts'

/** A claim, and methods that receive its answer. They must not throw. */
type RequestedClaim = {
  readonly request: ClaimRequest
  onAnswer(answer: Claim): void
  onError(error: unknown): void
}

/** An attempt to record, and methods that receive the result. They must not throw. */
export type Recording = {
  readonly finished: FinishedAttempt
  /** The queue whose next task may wait for this record. */
  readonly queueId: string | null
  /** @param recorded - Null when another process has ended the attempt. */
  onRecorded(recorded: RecordedAttempt | null): void
  /** PostgreSQL refuses the record. */
  onRefused(error: unknown): void
}

// Bounds the duration of a statement, and of the locks that it holds. Larger batches had no measurable benefit.
export const batchSize = 512
// Each statement has a fixed cost, so under load a wait of some milliseconds for more rows saves CPU. Batches of less
// than `gatherFrom` do not wait: at a moderate load they occur after any hitch.
const gatherMs = 10
const gatherFrom = 64
// The record of a success is not urgent, so at a low rate a few share a statement: three at 100 calls a second.
const fewRecords = { from: 1, enough: 4, ms: 25 }

/**
 * Opens the statements of concurrent attempts, many calls in one statement. While the database is away, the statements in
 * flight wait, and all others behind them. A batch that exceeds the statement timeout is retried in halves.
 * @param options.concurrency - The slots of the process. While half of the calls are in flight, the others are claimed and
 * recorded.
 */
export function openBatches(options: ClaimOptions & { concurrency: number }) {
  const { pool, dispatcher, log, tiers, metrics, concurrency, stop } = options
  const enough = Math.min(batchSize, Math.ceil((concurrency + batchSize) / 2))
  const underLoad = { from: gatherFrom, enough, ms: gatherMs }
  const claimWithBlock = openShortClaims(options)

  function openClaims(batch: string): Batch<RequestedClaim> {
    const claims = openBatch<RequestedClaim, Claim | ShortClaim>({
      maxSize: batchSize,
      maxInFlight: 1, // more would make smaller batches
      gather: [underLoad],
      run: requested => {
        metrics.batch({ batch }, requested.length)
        return claimAll(requested.map(({ request }) => request))
      },
      split: error => isTimeout(error) || !isTransientDatabaseError(error),
      settle(claim, answer) {
        if (answer.kind === 'short') claimShort(claim, answer)
        else claim.onAnswer(answer)
      },
      fail: (claim, error) => claim.onError(error),
    })

    function claimShort(claim: RequestedClaim, { organizationId }: ShortClaim): void {
      const tell = (answer: Claim | ShortClaim) =>
        answer.kind === 'short' ? claims.push(claim) : claim.onAnswer(answer)
      claimWithBlock({ organizationId, ...claim.request }).then(tell, error => claim.onError(error))
    }
    return claims
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

  // Without a signal: outcomes are kept until the database is back. Meanwhile schedulers cannot end the attempts
  // either, and the fence of the statement refuses the record if the next attempt has started.
  function recordAll(attempts: FinishedAttempt[]): Promise<Array<RecordedAttempt | null>> {
    const isTooLarge = (error: unknown) => attempts.length > 1 && isStatementTimeout(error)
    return retryDatabase(() => recordAttempts(pool, attempts), {
      onWait: error => log.warn({ err: error, runs: attempts.length }, 'record.waiting_for_database'),
      isRetryable: error => isTransientDatabaseError(error) && !isLockTimeout(error) && !isTooLarge(error),
    })
  }

  function openRecords(
    maxSize: number,
    maxInFlight: number,
    isTooLarge: (error: unknown) => boolean,
  ): Batch<Recording> {
    return openBatch<Recording, RecordedAttempt | null>({
      maxSize,
      maxInFlight,
      gather: [fewRecords, underLoad],
      isUrgent: ({ finished, queueId }) => finished.state !== 'success' || queueId !== null,
      run: attempts => {
        metrics.batch({ batch: 'record' }, attempts.length)
        return recordAll(attempts.map(({ finished }) => finished))
      },
      split: error => isTooLarge(error) || !isTransientDatabaseError(error),
      settle: (attempt, recorded) => attempt.onRecorded(recorded),
      fail(attempt, error) {
        if (!isLockTimeout(error)) return attempt.onRefused(error)
        log.warn({ err: error, run: attempt.finished.runId }, 'record.waiting_for_task')
        alone.push(attempt)
      },
    })
  }

  // Attempts whose tasks another transaction holds must not delay the others. So each is retried alone, two at a time, and
  // the remaining connections stay free for everything else.
  const alone = openRecords(1, 2, () => false)

  const claims = openClaims('claim')
  // Of tasks of queues with limits: such a claim may wait for other claims of its queue.
  const queuedClaims = openClaims('claim_queued')

  return {
    /** Returns where a task belongs; null when it does not exist. */
    locate: microBatch<string, TaskLocation | null>({
      maxSize: batchSize,
      maxInFlight: 1,
      gather: [underLoad],
      run: ids => {
        metrics.batch({ batch: 'locate' }, ids.length)
        return locateTasks(pool, ids)
      },
      split: error => !isTransientDatabaseError(error),
    }),
    /** Claims a task as `claimFromBlocks` does. Waits while the database is away; fails when the process is to stop. */
    claim(claim: RequestedClaim): void {
      if (claim.request.isQueued) queuedClaims.push(claim)
      else claims.push(claim)
    },
    /** Records an attempt as `recordAttempts` does. Waits while the database is away, or another transaction holds the task. */
    record: openRecords(batchSize, 1, isStatementTimeout),
    advance: openAdvanceQueue(options),
  }
}
