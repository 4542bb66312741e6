import { accountEntry, listQuery, pageOf } from '@belfry/contract'
import { type AccountAction, toId } from '@belfry/domain'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { deviceName } from './device.ts'

export const listAccountLog = endpoint({
  right: 'signed_in',
  summary: 'List the sign-ins of the user and the changes of the password, newest first',
  answer: { status: 200, body: pageOf(accountEntry) },
  query: listQuery,
  async handle(ctx, { caller, query }) {
    const before = readCursor('account-log', query) ?? null
    const text = `
      SELECT id, action, address, agent, created_at AS "createdAt" FROM account_log
      WHERE user_id = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`
    const { rows } = await ctx.pool.query<Row>(text, [caller.userId, before, query.limit + 1])
    return ok(
      toPage('account-log', query, rows, ({ id, action, address, agent, createdAt }) => {
        const device = agent === null ? null : deviceName(agent)
        return { id: toId('aud', id), action, address, device, created_at: createdAt.toISOString() }
      }),
    )
  },
})

type Row = { id: string; action: AccountAction; address: string; agent: string | null; createdAt: Date }
