import type { Tiers } from '@belfry/domain/tiers'
import type { Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { tierRows } from './count-executions.ts'

/** The maximum size of a block, unless one batch wants more executions. */
const maxBlock = 5_000
// Near the limit blocks are small, so each dispatcher gets some of the remaining executions.
const shareOfLeft = 16

/**
 * Returns the size of a new block.
 * @param left - The remaining executions of the organization outside its blocks.
 * @param wanted - How many the dispatcher could start now.
 */
export function blockSize(left: number, wanted: number): number {
  const share = Math.min(maxBlock, Math.floor(left / shareOfLeft))
  return Math.max(0, Math.min(left, Math.max(wanted, share)))
}

/**
 * Grants a dispatcher new blocks of executions. When fewer are left than wanted, it takes back the unspent executions of
 * the organization's other dispatchers. So the dispatcher gets either all that it wants or all that are left in the month.
 *
 * Blocks and `usage` change together, under the lock of the organization's row in `usage`. Claims and refunds change blocks
 * alone. A transaction that holds blocks must not lock that row afterwards.
 */
export async function topUpExecutions(
  tx: Transaction,
  dispatcherId: string,
  byOrganization: ReadonlyMap<string, number>,
  tiers: Tiers,
): Promise<void> {
  const budgets = await lockBudgets(tx, [...byOrganization.keys()], tiers)
  const wantedOf = ({ organizationId }: Budget) => byOrganization.get(organizationId) ?? 0
  await takeBack(tx, budgets, dispatcherId)
  const lacking = budgets.filter(budget => budget.limit - budget.granted < wantedOf(budget))
  await takeBack(tx, lacking, null)
  const blocks = budgets.map(budget => blockSize(budget.limit - budget.granted, wantedOf(budget)))
  const text = `
    WITH topped_up AS (
      SELECT * FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[])
        AS t (organization_id, granted, block, execution_limit)
    ),
    counted AS (
      UPDATE usage u SET executions = t.granted FROM topped_up t
      WHERE u.month = utc_month(now()) AND u.organization_id = t.organization_id
    )
    INSERT INTO execution_blocks AS b (month, organization_id, dispatcher_id, unspent, execution_limit)
    SELECT utc_month(now()), organization_id, $1, block, execution_limit FROM topped_up ORDER BY organization_id
    ON CONFLICT (month, organization_id, dispatcher_id)
    DO UPDATE SET unspent = b.unspent + excluded.unspent, execution_limit = excluded.execution_limit`
  const values = [
    dispatcherId,
    budgets.map(({ organizationId }) => organizationId),
    budgets.map(({ granted }, i) => granted + (blocks[i] ?? 0)),
    blocks,
    budgets.map(({ limit }) => limit),
  ]
  await tx.query({ name: 'grant_executions', text, values })
}

/** The executions of an organization this month: the limit of its tier, and how many its blocks have, unspent ones too. */
type Budget = { organizationId: string; limit: number; granted: number }

async function lockBudgets(tx: Transaction, organizationIds: string[], tiers: Tiers): Promise<Budget[]> {
  const limits = tierRows(tiers, 2)
  const text = `
    INSERT INTO usage AS u (month, organization_id, executions, wanted, granted, execution_limit)
    SELECT utc_month(now()), o.id, 0, 0, 0, l.executions
    FROM organizations o JOIN ${limits.text} AS l (tier, executions, storage_bytes) ON l.tier = o.tier
    WHERE o.id = ANY ($1::uuid[]) ORDER BY o.id
    ON CONFLICT (month, organization_id) DO UPDATE SET execution_limit = excluded.execution_limit
    RETURNING organization_id AS "organizationId", execution_limit::float8 AS "limit", executions::float8 AS granted`
  const values = [organizationIds, ...limits.params]
  return (await tx.query<Budget>({ name: 'lock_budgets', text, values })).rows
}

/** Takes back the unspent executions of a dispatcher; null means of all dispatchers. */
async function takeBack(tx: Transaction, budgets: readonly Budget[], dispatcherId: string | null): Promise<void> {
  if (budgets.length === 0) return
  const text = `
    DELETE FROM execution_blocks
    WHERE month = utc_month(now()) AND organization_id = ANY ($1::uuid[])
      ${dispatcherId === null ? '' : 'AND dispatcher_id = $2'}
    RETURNING organization_id AS "organizationId", unspent::float8 AS unspent`
  const organizationIds = budgets.map(({ organizationId }) => organizationId)
  const { rows } = await tx.query<{ organizationId: string; unspent: number }>({
    name: dispatcherId === null ? 'take_back_all_blocks' : 'take_back_block',
    text,
    values: dispatcherId === null ? [organizationIds] : [organizationIds, dispatcherId],
  })
  const budgetOf = new Map(budgets.map(budget => [budget.organizationId, budget]))
  for (const { organizationId, unspent } of rows) {
    const budget = budgetOf.get(organizationId)
    if (budget) budget.granted -= unspent
  }
}

/**
 * Returns unspent executions to their organizations: those in blocks of past months and of dispatchers that are gone. Until
 * then they are available too, because a top-up takes them back.
 * @returns How many blocks, of at most `limit` organizations.
 */
export async function returnUnspentBlocks(pool: Pool, limit: number): Promise<number> {
  const isAbandoned = `(b.month < utc_month(now()) OR NOT EXISTS (SELECT FROM dispatchers d WHERE d.id = b.dispatcher_id))`
  const text = `
    WITH locked AS (
      SELECT u.month, u.organization_id
      FROM (SELECT DISTINCT month, organization_id FROM execution_blocks b WHERE ${isAbandoned} LIMIT $1) a
      JOIN usage u USING (month, organization_id)
      ORDER BY u.organization_id, u.month FOR UPDATE OF u SKIP LOCKED
    ),
    returned AS (
      DELETE FROM execution_blocks b USING locked l
      WHERE b.month = l.month AND b.organization_id = l.organization_id AND ${isAbandoned}
      RETURNING b.month, b.organization_id, b.unspent
    ),
    counted AS (
      UPDATE usage u SET executions = u.executions - r.unspent
      FROM (SELECT month, organization_id, sum(unspent) AS unspent FROM returned GROUP BY 1, 2) r
      WHERE u.month = r.month AND u.organization_id = r.organization_id
    )
    SELECT count(*)::int AS blocks FROM returned`
  const { rows } = await pool.query<{ blocks: number }>(text, [limit])
  return rows[0]?.blocks ?? 0
}

/** SQL: the executions that an organization has used in a month, from its row `u` in `usage`. */
export const usedExecutions = `(u.executions - coalesce((
    SELECT sum(b.unspent) FROM execution_blocks b WHERE b.month = u.month AND b.organization_id = u.organization_id
  ), 0))`
