import type { Session, SignedIn, User } from '@belfry/contract/auth'
import { operations } from '@belfry/contract/operations'
import { recordAccountEntry } from '@belfry/db/account-log'
import type { Session as StoredSession } from '@belfry/db/generated/client'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { notFound } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import type { Request } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import { maxSessionMs, type UserCaller } from '../auth/find-user.ts'
import { noSessionCookie, sessionCookie, sessionMs, signSessionToken } from '../auth/session-token.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { ApiResponse } from '../http/response.ts'
import { mailNewDevice } from './account-mail.ts'
import { agentOf, deviceCookie, deviceName } from './device.ts'

export const listSessions = endpoint(operations.listSessions, async (ctx, { caller, query }) => {
  const { userId } = caller
  const now = ctx.clock.now()
  const inForce = { expiresAt: { gt: new Date(now) }, createdAt: { gt: new Date(now - maxSessionMs) } }
  const find = ({ before, take }: PageRows) =>
    ctx.prisma.session.findMany({ where: { userId, ...inForce, id: before }, orderBy: { id: 'desc' }, take })
  return readPage(`sessions:${userId}`, query, find, row => presentSession(row, caller))
})

export const endSession = endpoint(operations.endSession, async (ctx, { caller, params }) => {
  if ((await endSessions(ctx, caller, 'session_ended', params.session)) === 0) throw notFound()
})

export const endOtherSessions = endpoint(operations.endOtherSessions, async (ctx, { caller }) => {
  await endSessions(ctx, caller, 'session_ended', { not: caller.sessionId })
})

export const logout = endpoint(operations.logout, async (ctx, { caller }) => {
  await endSessions(ctx, caller, 'signed_out', caller.sessionId)
  return new ApiResponse({ status: 204, headers: { 'Set-Cookie': noSessionCookie(ctx) } })
})

/** Ends sessions of a user, and records it. Returns how many there were. */
export async function endSessions(
  ctx: Context,
  { userId, address }: UserCaller,
  action: 'session_ended' | 'signed_out',
  id: string | { not: string },
): Promise<number> {
  return ctx.prisma.$transaction(async tx => {
    const { count } = await tx.session.deleteMany({ where: { userId, id } })
    if (count > 0) await recordAccountEntry(tx, { userId, action, address })
    return count
  })
}

export function presentSession(row: StoredSession, caller: UserCaller): Session {
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

/**
 * Opens a session for the user who sends a request. Returns the response to a registration or a login.
 * @param logoutHint - What a sign-out at the issuer needs, sealed. Optional.
 */
export async function startSession(
  ctx: Context,
  tx: PrismaTransaction,
  user: UserRow,
  request: Request,
  { hasSecondFactor = false, logoutHint }: { hasSecondFactor?: boolean; logoutHint?: string | undefined } = {},
): Promise<{ body: SignedIn; headers: { 'Set-Cookie': string[] } }> {
  const now = ctx.clock.now()
  const expiresAt = new Date(now + sessionMs)
  const from = { address: callerAddress(request), agent: agentOf(request) }
  const session = await tx.session.create({
    data: {
      id: newUuid(),
      userId: user.id,
      // By default, Prisma would take the clock of this process.
      createdAt: new Date(now),
      expiresAt,
      lastUsedAt: new Date(now),
      hasSecondFactor,
      logoutHint: logoutHint ?? null,
      ...from,
    },
  })
  await mailNewDevice(ctx, tx, user, request)
  await recordAccountEntry(tx, { userId: user.id, action: 'signed_in', ...from })
  const token = signSessionToken(ctx.config.jwtKeys[0], user.id, session.id, now)
  return {
    body: { user: presentUser(user), token, expires_at: expiresAt.toISOString() },
    headers: { 'Set-Cookie': [sessionCookie(ctx, token, expiresAt), deviceCookie(ctx, user.id)] },
  }
}

export type UserRow = { id: string; email: string; name: string; createdAt: Date }

export function presentUser(user: UserRow): User {
  return { id: toId('user', user.id), email: user.email, name: user.name, created_at: user.createdAt.toISOString() }
}
