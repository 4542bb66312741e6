import type { DispatcherRow } from '@belfry/db/dispatchers/heartbeat'
import { isLockTimeout, isStatementTimeout, isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import type { Pool } from '@belfry/db/postgres/pool'
import { retryDatabase } from '@belfry/db/postgres/retry-database'
import { claimWithTopUp, type ShortRequest } from '@belfry/db/tasks/claim-tasks'
import type { Claim, ShortClaim } from '@belfry/db/tasks/claimed-row'
import type { Tiers } from '@belfry/domain/tiers'
import { type Logger, type MicroBatch, microBatch } from '@belfry/runtime'
import type { Metrics } from '../metrics.ts'

type Answer = Claim | ShortClaim

export type ClaimOptions = {
  pool: Pool
  dispatcher: DispatcherRow
  log: Logger
  tiers: Tiers
  metrics: Metrics
  stop: AbortSignal
}

const batchSize = 512
// Other top-ups of an organization take milliseconds. A row that is held for longer must not delay other organizations.
const lockTimeoutMs = 200

/**
 * Opens the claims of tasks whose organizations need a new block of executions first. The organizations share transactions.
 * When a transaction waits for a row that another one holds, each of its organizations continues alone until it has
 * succeeded. These tries run one after the other, with a pause of up to a second between two of the same organization.
 */
export function openShortClaims(options: ClaimOptions): (request: ShortRequest) => Promise<Answer> {
  const { pool, dispatcher, log, tiers, metrics, stop } = options
  const alone = new Map<string, MicroBatch<ShortRequest, Answer>>()

  async function claim(requests: ShortRequest[]): Promise<Answer[]> {
    metrics.batch({ batch: 'top_up' }, requests.length)
    const claims = await claimWithTopUp(pool, { dispatcherId: dispatcher.id }, requests, tiers, lockTimeoutMs)
    metrics.claimed(claims)
    return claims
  }

  function retry(ask: () => Promise<Answer[]>, isFinal: (error: unknown) => boolean): Promise<Answer[]> {
    return retryDatabase(ask, {
      onWait: error => log.warn({ err: error }, 'claim.waiting_for_database'),
      isRetryable: error => isTransientDatabaseError(error) && !isFinal(error),
      signal: stop,
    })
  }

  const together = microBatch<ShortRequest, Answer>({
    maxSize: batchSize,
    maxInFlight: 1,
    run: requests => retry(() => claim(requests), isTimeout),
    split: () => false,
  })
  const oneByOne = microBatch<ShortRequest[], Answer[]>({
    maxSize: 1,
    maxInFlight: 1,
    run: batches => Promise.all(batches.map(requests => claim(requests))),
    split: () => false,
  })

  function openAlone(organizationId: string): MicroBatch<ShortRequest, Answer> {
    const batch = microBatch<ShortRequest, Answer>({
      maxSize: batchSize,
      maxInFlight: 1,
      async run(requests) {
        const isTooLarge = (error: unknown) => requests.length > 1 && isStatementTimeout(error)
        const claims = await retry(() => oneByOne(requests), isTooLarge)
        alone.delete(organizationId)
        return claims
      },
      split: isStatementTimeout,
    })
    alone.set(organizationId, batch)
    return batch
  }

  return async request => {
    const { organizationId } = request
    const waiting = alone.get(organizationId)
    if (waiting) return waiting(request)
    try {
      return await together(request)
    } catch (error) {
      if (!isTimeout(error)) throw error
      if (!alone.has(organizationId))
        log.warn({ err: error, organization: organizationId }, 'claim.waiting_for_organization')
      return (alone.get(organizationId) ?? openAlone(organizationId))(request)
    }
  }
}

/** True when a claim took too long, or waited too long for a row. */
export function isTimeout(error: unknown): boolean {
  return isLockTimeout(error) || isStatementTimeout(error)
}
