import type { Role } from '@belfry/db'
import { AppError, fromId } from '@belfry/domain'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { notFound } from '../http/not-found.ts'
import { hashApiKey, isApiKey } from './api-key.ts'
import { sessionCookieOf } from './session-cookie.ts'
import { readSessionToken } from './session-token.ts'

/** What an endpoint asks of its caller: nothing, a signed-in user, or access to one workspace. */
export type Credential = 'none' | 'session' | 'workspace'

export type UserCaller = { userId: string; sessionId: string }

/** Somebody with access to one workspace: its API key, or a user who names it with `X-Workspace-Id`. */
export type WorkspaceCaller = { workspaceId: string; user: UserCaller | null; role: Role | 'api_key' }

export type Caller = null | UserCaller | WorkspaceCaller
export type CallerOf<A extends Credential> = A extends 'none'
  ? null
  : A extends 'session'
    ? UserCaller
    : WorkspaceCaller

/** Finds out who calls. Throws `unauthenticated` when that cannot be told. */
export async function authenticate(ctx: Context, request: Request, credential: Credential): Promise<Caller> {
  if (credential === 'none') return null
  if (credential === 'session') return requireUser(ctx, request)
  const key = request.headers['x-api-key']
  if (key !== undefined) return authenticateKey(ctx, request, String(key))
  return authenticateMember(ctx, request)
}

async function authenticateKey(ctx: Context, request: Request, key: string): Promise<WorkspaceCaller> {
  const refused = new AppError('unauthenticated', 'The API key is unknown, expired or revoked.')
  if (!isApiKey(key)) throw refused
  const workspaceId = await findWorkspaceOfKey(ctx, hashApiKey(key))
  if (!workspaceId) throw refused
  const named = request.headers['x-workspace-id']
  if (named !== undefined && fromId('ws', String(named)) !== workspaceId) throw notFound()
  return { workspaceId, user: null, role: 'api_key' }
}

async function findWorkspaceOfKey(ctx: Context, hash: Uint8Array): Promise<string | undefined> {
  const remembered = ctx.apiKeys.get(hash)
  if (remembered) return remembered
  const { rows } = await ctx.pool.query<{ workspaceId: string }>({
    name: 'find_api_key',
    text: `SELECT workspace_id AS "workspaceId" FROM api_keys
           WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    values: [hash],
  })
  const workspaceId = rows[0]?.workspaceId
  if (workspaceId) ctx.apiKeys.set(hash, workspaceId)
  return workspaceId
}

// Owners and admins have every right in every workspace. Membership of single workspaces comes with invitations.
async function authenticateMember(ctx: Context, request: Request): Promise<WorkspaceCaller> {
  const user = await requireUser(ctx, request)
  const named = request.headers['x-workspace-id']
  if (named === undefined) {
    throw new AppError('unauthenticated', 'Send an API key in X-Api-Key, or a session with X-Workspace-Id.')
  }
  const workspaceId = fromId('ws', String(named))
  if (workspaceId === null) throw notFound()
  const role = await findRole(ctx, user.userId, { workspaces: { some: { id: workspaceId } } })
  if (role !== 'owner' && role !== 'admin') throw notFound()
  return { workspaceId, user, role }
}

/** The role that a user has in the organization that matches; another's organization is not found. */
export async function findRole(
  ctx: Context,
  userId: string,
  organization: { id: string } | { workspaces: { some: { id: string } } },
): Promise<Role> {
  const membership = await ctx.prisma.membership.findFirst({ where: { userId, organization }, select: { role: true } })
  if (!membership) throw notFound()
  return membership.role
}

async function requireUser(ctx: Context, request: Request): Promise<UserCaller> {
  const refused = new AppError('unauthenticated', 'Sign in first: the session is missing, expired or ended.')
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const cookie = bearer === undefined ? sessionCookieOf(request) : undefined
  const token = bearer ?? cookie
  const claims = token === undefined ? null : readSessionToken(ctx.config.jwtSecret, token)
  if (!claims) throw refused
  if (cookie !== undefined) requireSameOrigin(ctx, request)
  const session = await ctx.prisma.session.findFirst({
    where: { id: claims.sessionId, userId: claims.userId, expiresAt: { gt: new Date(ctx.clock.now()) } },
    select: { userId: true },
  })
  if (!session) throw refused
  return { userId: session.userId, sessionId: claims.sessionId }
}

// A browser sends the cookie along with requests that other sites start.
function requireSameOrigin(ctx: Context, request: Request): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  if (request.headers.origin === ctx.config.publicUrl) return
  throw new AppError('forbidden', `A change with the session cookie needs an Origin header of ${ctx.config.publicUrl}.`)
}
