import type { TierName } from '@belfry/domain'
import { changeTier } from '../organizations/change-tier.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

export type EndedGrace = { organizationId: string; from: TierName }

const scheduler = { userId: null, apiKeyId: null, address: '', details: { by: 'billing' } }

/**
 * Moves organizations whose grace period is over to the tier `free`, and calls `notify` for each in the same transaction.
 * @returns How many organizations, at most `limit`.
 */
export async function endGracePeriods(
  pool: Pool,
  now: Date,
  limit: number,
  notify: (tx: Transaction, ended: EndedGrace) => Promise<void>,
): Promise<number> {
  return inTransaction(pool, async tx => {
    // Locks the account before the organization, in the same order as the API.
    const { rows } = await tx.query<{ id: string }>(
      `SELECT b.organization_id AS id FROM billing_accounts b JOIN organizations o ON o.id = b.organization_id
       WHERE b.grace_until <= $1 AND o.tier <> 'free' AND o.deleted_at IS NULL
       ORDER BY b.grace_until LIMIT $2 FOR UPDATE OF b SKIP LOCKED`,
      [now, limit],
    )
    for (const { id } of rows) {
      const from = await changeTier(tx, id, 'free', scheduler)
      if (from !== null) await notify(tx, { organizationId: id, from })
    }
    return rows.length
  })
}
