import {
  type Claim,
  claimWithTopUp,
  type DispatcherRow,
  isLockTimeout,
  isStatementTimeout,
  type Pool,
  type ShortClaim,
  type ShortRequest,
} from '@belfry/db'
import type { Tiers } from '@belfry/domain'
import { type Logger, type MicroBatch, microBatch } from '@belfry/runtime'
import { askDatabase } from './intake/ask-database.ts'
import type { Metrics } from './metrics.ts'

type Answer = Claim | ShortClaim

const batchSize = 512
// Other top-ups of an organization take milliseconds. A row that is held for longer must not delay other organizations.
const lockTimeoutMs = 200

/**
 * Claims tasks whose organizations need a new block of executions first. The organizations share transactions. When one of
 * these waits for a row that another transaction holds, each of its organizations goes on alone until it has succeeded:
 * one try after the other, with a pause of up to a second between two of the same organization.
 */
export function claimShortTasks(options: {
  pool: Pool
  dispatcher: DispatcherRow
  log: Logger
  tiers: Tiers
  metrics: Metrics
  stop: AbortSignal
}): (request: ShortRequest) => Promise<Answer> {
  const { pool, dispatcher, log, tiers, metrics, stop } = options
  const alone = new Map<string, MicroBatch<ShortRequest, Answer>>()

  async function claim(requests: ShortRequest[]): Promise<Answer[]> {
    metrics.batch({ batch: 'top_up' }, requests.length)
    const claims = await claimWithTopUp(pool, { dispatcherId: dispatcher.id }, requests, tiers, lockTimeoutMs)
    metrics.claimed(claims)
    return claims
  }

  const together = microBatch<ShortRequest, Answer>({
    maxSize: batchSize,
    maxInFlight: 1,
    run: requests => askDatabase(options, () => claim(requests), stop, isTimeout),
    split: () => false,
  })
  const inTurn = microBatch<ShortRequest[], Answer[]>({
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
        const isTooMuch = (error: unknown) => requests.length > 1 && isStatementTimeout(error)
        const claims = await askDatabase(options, () => inTurn(requests), stop, isTooMuch)
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

function isTimeout(error: unknown): boolean {
  return isLockTimeout(error) || isStatementTimeout(error)
}
