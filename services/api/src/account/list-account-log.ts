import type { AccountEntry } from '@belfry/contract/audit-entry'
import { operations } from '@belfry/contract/operations'
import type { AccountAction } from '@belfry/domain/audit-action'
import { toId } from '@belfry/domain/id'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { deviceName } from './device.ts'

export const listAccountLog = endpoint(operations.listAccountLog, async (ctx, { caller, query }) => {
  const before = readCursor('account-log', query) ?? null
  const rows = await readAccountLog(ctx, caller.userId, before, query.limit + 1)
  return toPage('account-log', query, rows, presentAccountEntry)
})

type Row = { id: string; action: AccountAction; address: string; agent: string | null; createdAt: Date }

/** Returns the latest entries in the log of an account that are older than `before`. */
export async function readAccountLog(
  { pool }: Pick<Context, 'pool'>,
  userId: string,
  before: string | null,
  limit: number,
): Promise<Row[]> {
  const text = `
    SELECT id, action, address, agent, created_at AS "createdAt" FROM account_log
    WHERE user_id = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`
  return (await pool.query<Row>(text, [userId, before, limit])).rows
}

/** Returns the public form of an entry. */
export function presentAccountEntry({ id, action, address, agent, createdAt }: Row): AccountEntry {
  const device = agent === null ? null : deviceName(agent)
  return { id: toId('aud', id), action, address, device, created_at: createdAt.toISOString() }
}
