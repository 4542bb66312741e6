import type { Session } from '@belfry/contract/auth'
import { operations } from '@belfry/contract/operations'
import { recordAccountEntry } from '@belfry/db/account-log'
import type { Session as StoredSession } from '@belfry/db/generated/client'
import { toId } from '@belfry/domain/id'
import { noSessionCookie } from '../auth/cookies.ts'
import { maxSessionMs, type UserCaller } from '../auth/find-user.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { notFound } from '../http/refusals.ts'
import { Reply } from '../http/reply.ts'
import { deviceName } from './device.ts'

export const listSessions = endpoint(operations.listSessions, async (ctx, { caller, query }) => {
  const { userId } = caller
  const now = ctx.clock.now()
  const inForce = { expiresAt: { gt: new Date(now) }, createdAt: { gt: new Date(now - maxSessionMs) } }
  const find = ({ before, take }: PageRows) =>
    ctx.prisma.session.findMany({ where: { userId, ...inForce, id: before }, orderBy: { id: 'desc' }, take })
  return readPage(`sessions:${userId}`, query, find, row => presentSession(row, caller))
})

export const endSession = endpoint(operations.endSession, async (ctx, { caller, params }) => {
  if ((await end(ctx, caller, params.session)) === 0) throw notFound()
})

export const endOtherSessions = endpoint(operations.endOtherSessions, async (ctx, { caller }) => {
  await end(ctx, caller, { not: caller.sessionId })
})

async function end(ctx: Context, { userId, address }: UserCaller, id: string | { not: string }): Promise<number> {
  return ctx.prisma.$transaction(async tx => {
    const { count } = await tx.session.deleteMany({ where: { userId, id } })
    if (count > 0) await recordAccountEntry(tx, { userId, action: 'session_ended', address })
    return count
  })
}

type SessionRow = Omit<StoredSession, 'userId' | 'tokenHash'>

/** Returns the public form of a session. */
export function presentSession(row: SessionRow, caller: UserCaller): Session {
  const end = Math.min(row.expiresAt.getTime(), row.createdAt.getTime() + maxSessionMs)
  return {
    id: toId('ses', row.id),
    device: deviceName(row.agent),
    address: row.address,
    is_current: row.id === caller.sessionId,
    created_at: row.createdAt.toISOString(),
    last_used_at: (row.lastUsedAt ?? row.createdAt).toISOString(),
    expires_at: new Date(end).toISOString(),
  }
}

export const logout = endpoint(operations.logout, async (ctx, { caller }) => {
  const { userId, sessionId, address } = caller
  await ctx.prisma.$transaction(async tx => {
    const { count } = await tx.session.deleteMany({ where: { id: sessionId, userId } })
    if (count > 0) await recordAccountEntry(tx, { userId, action: 'signed_out', address })
  })
  return new Reply({ status: 204, headers: { 'Set-Cookie': noSessionCookie(ctx) } })
})
