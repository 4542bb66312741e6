import type { TierName } from '@belfry/domain'
import { changeTier } from '../organizations/change-tier.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

export type EndedGrace = { organizationId: string; from: TierName }

const scheduler = { userId: null, apiKeyId: null, address: '', details: { by: 'billing' } }

/**
 * Puts organizations whose grace period is over on the tier `free`, and lets `tell` write about it in the same transaction.
 * @returns How many were taken, at most `limit`.
 */
export async function endGracePeriods(
  pool: Pool,
  now: Date,
  limit: number,
  tell: (tx: Transaction, ended: EndedGrace) => Promise<void>,
): Promise<number> {
  return inTransaction(pool, async tx => {
    // The account is locked before the organization, as the API locks them.
    const { rows } = await tx.query<{ id: string }>(
      `SELECT b.organization_id AS id FROM billing_accounts b JOIN organizations o ON o.id = b.organization_id
       WHERE b.grace_until <= $1 AND o.tier <> 'free' AND o.deleted_at IS NULL
       ORDER BY b.grace_until LIMIT $2 FOR UPDATE OF b SKIP LOCKED`,
      [now, limit],
    )
    for (const { id } of rows) {
      const from = await changeTier(tx, id, 'free', scheduler)
      if (from !== null) await tell(tx, { organizationId: id, from })
    }
    return rows.length
  })
}
