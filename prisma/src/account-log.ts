import type { AccountAction } from '@belfry/domain/audit-action'
import { toId } from '@belfry/domain/id'
import { type AnyTransaction, dbOf } from './postgres/in-transaction.ts'

/**
 * What happened to the account of a user, and the address of the caller. `agent` is the User-Agent of a sign-in. Audit
 * entries about an operator's actions omit the user.
 */
export type AccountEntry = {
  userId: string
  action: AccountAction
  address: string
  agent?: string
  byOperator?: boolean
}

/** SQL: how long the log of an account is kept. */
export const accountLogKeptFor = `interval '90 days'`

/**
 * Stores an entry in the log of an account, and in the audit logs of the organizations of its user, whose owners have to see
 * who gets in.
 */
export async function recordAccountEntry(
  tx: AnyTransaction,
  { userId, action, address, agent, byOperator = false }: AccountEntry,
): Promise<void> {
  const text = `
    WITH logged AS (
      INSERT INTO account_log (id, user_id, action, address, agent)
      VALUES (uuid_v7(clock_timestamp()), $1::uuid, $2, $3, $4)
    )
    INSERT INTO audit_log (id, organization_id, action, user_id, address, object_id, details)
    SELECT uuid_v7(clock_timestamp()), m.organization_id, 'member.' || $2, CASE WHEN NOT $5::boolean THEN $1::uuid END, $3, $6,
           CASE WHEN $5 THEN '{"by":"operator"}' ELSE '{}' END
    FROM memberships m JOIN organizations o ON o.id = m.organization_id AND o.deleted_at IS NULL
    WHERE m.user_id = $1::uuid`
  const values = [userId, action, address, agent ?? null, byOperator, toId('user', userId)]
  await dbOf(tx).query(text, values)
}
