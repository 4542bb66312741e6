import { defaultTiers, type Tiers } from '@belfry/domain/tiers'
import type { Pool } from '../src/postgres/pool.ts'
import { type Claimant, claimFromBlocks, claimWithTopUp } from '../src/tasks/claim-tasks.ts'
import type { Claim, ClaimRequest, ShortClaim } from '../src/tasks/claimed-row.ts'

/**
 * Claims tasks as a dispatcher does, one statement after the other: first within its own blocks of executions, then those whose
 * queues have a limit, then those whose organizations need a new block. Returns the answers in the order of `requests`.
 */
export async function claimTasks(
  pool: Pool,
  claimant: Claimant,
  requests: readonly ClaimRequest[],
  tiers: Tiers = defaultTiers,
): Promise<Claim[]> {
  const claims = await claimFromBlocks(pool, claimant, requests, tiers)
  const queued = requests.flatMap((request, i) =>
    claims[i]?.kind === 'queued' ? [{ i, ...request, isQueued: true }] : [],
  )
  const decided = queued.length === 0 ? [] : await claimFromBlocks(pool, claimant, queued, tiers)
  queued.forEach(({ i }, k) => {
    claims[i] = decided[k] ?? { kind: 'gone' }
  })
  for (;;) {
    const short = requests.flatMap((request, i) => {
      const claim = claims[i]
      if (claim?.kind !== 'short') return []
      return [{ i, organizationId: claim.organizationId, ...request, isQueued: true }]
    })
    if (short.length === 0) return claims.filter(isAnswered)
    const answers = await claimWithTopUp(pool, claimant, short, tiers)
    short.forEach(({ i }, k) => {
      claims[i] = answers[k] ?? { kind: 'gone' }
    })
  }
}

const isAnswered = (claim: Claim | ShortClaim): claim is Claim => claim.kind !== 'short'
