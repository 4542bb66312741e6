import type { Right } from '@belfry/contract/operation'
import { AppError, notFound } from '@belfry/domain/app-error'
import { fromId, toId } from '@belfry/domain/id'
import { type Action, type ActionIn, type Actor, decide, type Role, rights } from '@belfry/domain/permissions'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { logCaller } from '../http/request-log.ts'
import { findApiKey, requireApiKeyInForce } from './api-key.ts'
import { callerAddress } from './caller-address.ts'
import { findUser, suspended, type UserCaller } from './find-user.ts'
import { askAgain, isAskedAgain } from './rate-limits.ts'
import { requireSecondFactor } from './second-factors.ts'

/** A caller that acts on an organization: a user, or the API key of one of its workspaces. */
type OrganizationCaller = {
  organizationId: string
  user: UserCaller | null
  apiKeyId: string | null
  actor: Actor
  /** Where the request came from. */
  address: string
  agent?: string | undefined
}

/** A caller that acts in one workspace: its API key, or a user who names the workspace. */
export type WorkspaceCaller = OrganizationCaller & { workspaceId: string }

declare const granted: unique symbol

/** Marks a caller that has the right `R`, or one of several, for the type checker alone. Only the checks below return one. */
export type Granted<R> = { readonly [granted]: R }

/**
 * A caller with the right `R` in a workspace. Functions that change or show an object require one, so the compiler
 * finds a forgotten check.
 */
export type Allowed<R extends ActionIn<'workspace'> = ActionIn<'workspace'>> = WorkspaceCaller & Granted<R>

/** The caller as an endpoint gets it. Where API keys have no right, the caller is a user. */
export type CallerOf<R extends Right> = R extends 'public'
  ? null
  : R extends 'signed_in'
    ? UserCaller
    : R extends 'operator'
      ? OperatorCaller
      : CallerIn<R> & UserOf<R> & Granted<R>

type CallerIn<R> = R extends ActionIn<'workspace'> ? WorkspaceCaller : OrganizationCaller

type UserOf<R extends Right> = R extends Action
  ? (typeof rights)[R]['apiKey'] extends false
    ? { user: UserCaller }
    : unknown
  : unknown

type Caller = null | UserCaller | OperatorCaller | OrganizationCaller | WorkspaceCaller

type Params = Readonly<Record<string, string>>

/**
 * Finds the caller of a request and checks its right. An object that the caller may not see does not exist for it.
 * @param params - The ids in the path: the right is needed in `org` or `ws`.
 * @param others - Other rights, each of which is enough. Optional.
 * @throws AppError `unauthenticated`, `forbidden` or `not_found`.
 */
export function authorize<R extends Right>(
  ctx: Context,
  request: Request,
  right: R,
  params: Params,
  others: readonly R[] = [],
): Promise<CallerOf<R>> {
  return authorizeAny(ctx, request, right, params, others as readonly Action[]) as Promise<CallerOf<R>> // the conditional type says the same for each right
}

/**
 * Authorizes a request again, after a late body or while its response is sent: its key, session or membership may have ended
 * meanwhile. Looks past the cache of API keys, and counts and renews nothing.
 */
export function authorizeAgain<R extends Right>(
  ctx: Context,
  request: Request,
  right: R,
  params: Params = {},
  others: readonly R[] = [],
): Promise<CallerOf<R>> {
  askAgain(request)
  return authorize(ctx, request, right, params, others)
}

async function authorizeAny(
  ctx: Context,
  request: Request,
  right: Right,
  params: Params,
  others: readonly Action[],
): Promise<Caller> {
  if (right === 'public') return null
  if (right === 'signed_in') return findUser(ctx, request)
  if (right === 'operator') return findOperator(ctx, request)
  const { scope, apiKey } = rights[right]
  const key = sentApiKey(request)
  const findMember = scope === 'organization' ? findMemberOfOrganization : findMemberOfWorkspace
  const caller =
    key === undefined
      ? await findMember(ctx, request, await findUser(ctx, request, apiKey ? missingBoth : undefined), params)
      : await findByKey(ctx, request, key, scope, params)
  if (!others.some(other => decide(caller.actor, other).allowed)) requireRight(caller, right)
  return caller
}

// Each agent names itself, so the name only tells agents of one credential apart.
function agentOf({ headers }: Request): string | undefined {
  const name = headers['x-belfry-agent']
  return name === undefined ? undefined : String(name).slice(0, 100)
}

const missingBoth =
  'Send an API key in X-Api-Key or as a bearer token, or sign in: the session is missing, expired or ended.'

// The prefix distinguishes an API key from the token of a session.
function sentApiKey({ headers }: Request): string | undefined {
  const key = headers['x-api-key']
  return key === undefined ? /^Bearer +(bf_\S*)$/i.exec(headers.authorization ?? '')?.[1] : String(key)
}

/** Returns the public id of the user or the API key that makes a request. */
export function authorOf({ user, apiKeyId }: Pick<WorkspaceCaller, 'user' | 'apiKeyId'>): string {
  return user ? toId('user', user.userId) : toId('key', String(apiKeyId))
}

/** Returns the caller with a right. Throws `forbidden`, with the missing role or flag, unless the table of rights allows it. */
export function requireRight<R extends Action>(caller: CallerIn<R>, right: R): CallerOf<R> {
  const decision = decide(caller.actor, right)
  if (!decision.allowed) throw new AppError('forbidden', decision.reason)
  return caller as CallerOf<R> // the mark exists only as a type
}

/**
 * Refuses a change that would send the caller what it may not read: a new target gets the rest of the stored request, and
 * a callback also the response.
 * @param change - What the request changes; `callbacks` as they are stored.
 * @throws AppError `forbidden`
 */
export function requireReader(
  caller: Allowed,
  read: 'task.read' | 'cron_job.read' | 'subscription.read',
  { url, callbacks }: { url?: string | undefined; callbacks?: string | null | undefined },
): void {
  const reports = callbacks != null && Object.values(JSON.parse(callbacks)).some(Boolean)
  if (url !== undefined || reports) requireRight(caller, read)
  if (reports) requireRight(caller, 'run.read')
}

async function findByKey(
  ctx: Context,
  request: Request,
  key: string,
  scope: 'organization' | 'workspace',
  params: Params,
): Promise<OrganizationCaller | WorkspaceCaller> {
  const address = callerAddress(request)
  const { keyId: apiKeyId, workspaceId, organizationId, scopes } = await findApiKey(ctx, request, key, address)
  if (isAskedAgain(request)) await requireApiKeyInForce(ctx, apiKeyId)
  const actor = { kind: 'api_key' as const, scopes }
  const agent = agentOf(request)
  if (scope === 'organization') {
    if (organizationId !== params.org) throw notFound()
    return { organizationId, user: null, apiKeyId, actor, address, agent }
  }
  const named = params.ws ?? namedWorkspace(request)
  if (named !== undefined && named !== workspaceId) throw notFound()
  return { organizationId, workspaceId, user: null, apiKeyId, actor, address, agent }
}

async function findMemberOfOrganization(
  ctx: Context,
  request: Request,
  user: UserCaller,
  { org: organizationId = '' }: Params,
): Promise<OrganizationCaller> {
  const membership = await ctx.prisma.membership.findUnique({
    where: { organizationId_userId: { organizationId, userId: user.userId } },
    select: { role: true, organization: { include: { memberships: membersWith(user) } } },
  })
  if (!membership) throw notFound()
  logCaller(request, { organizationId })
  refuseSuspendedOrganization(membership.organization)
  if (membership.organization.requireSecondFactor) await requireSecondFactor(ctx, user)
  const actor: Actor = { kind: 'user', role: membership.role, policy: membership.organization, workspaceRole: null }
  return { organizationId, user, apiKeyId: null, actor, address: user.address, agent: agentOf(request) }
}

async function findMemberOfWorkspace(
  ctx: Context,
  request: Request,
  user: UserCaller,
  params: Params,
): Promise<WorkspaceCaller> {
  const workspaceId = params.ws ?? namedWorkspace(request)
  if (workspaceId === undefined) {
    throw new AppError('unauthenticated', 'Send an API key in X-Api-Key, or a session with X-Workspace-Id.')
  }
  const { userId } = user
  const workspace = await ctx.prisma.workspace.findUnique({
    where: { id: workspaceId, deletedAt: null },
    select: {
      suspendedAt: true,
      organization: { include: { memberships: membersWith(user) } },
      members: { where: { userId }, select: { role: true } },
    },
  })
  const role = workspace?.organization.memberships.find(member => member.userId === userId)?.role
  const workspaceRole = workspace?.members[0]?.role ?? null
  if (!workspace || !role || (role === 'member' && workspaceRole === null)) throw notFound()
  const { id: organizationId, requireSecondFactor: isFactorRequired } = workspace.organization
  logCaller(request, { organizationId, workspaceId })
  refuseSuspendedOrganization(workspace.organization)
  if (workspace.suspendedAt !== null) throw suspended('workspace')
  if (isFactorRequired) await requireSecondFactor(ctx, user)
  const actor: Actor = { kind: 'user', role, policy: workspace.organization, workspaceRole }
  const [address, agent] = [user.address, agentOf(request)]
  return { organizationId, workspaceId, user, apiKeyId: null, actor, address, agent }
}

/** Orders members by how long they have been there. The first owner is the account of an organization. */
export const oldestFirst = [{ joinedAt: 'asc' as const }, { userId: 'asc' as const }]

// Selects a user and the owners of an organization.
const membersWith = ({ userId }: UserCaller) => ({
  where: { OR: [{ userId }, { role: 'owner' as const }] },
  orderBy: oldestFirst,
  select: { userId: true, role: true, user: { select: { suspendedAt: true } } },
})

type Members = Array<{ role: Role; user: { suspendedAt: Date | null } }>

// A suspended user suspends the organizations in which the user is the oldest owner, as the view `suspended_workspaces` does.
function refuseSuspendedOrganization({ suspendedAt, memberships }: { suspendedAt: Date | null; memberships: Members }) {
  const owner = memberships.find(({ role }) => role === 'owner')
  if (suspendedAt !== null || owner?.user.suspendedAt) throw suspended('organization')
}

function namedWorkspace(request: Request): string | undefined {
  const header = request.headers['x-workspace-id']
  if (header === undefined) return undefined
  const workspaceId = fromId('ws', String(header))
  if (workspaceId === null) throw notFound()
  return workspaceId
}

/** A user whose proven address is in `OPERATORS`, signed in with a second factor. */
type OperatorCaller = UserCaller & { email: string }

/**
 * Returns whether a user is an operator. An unconfirmed address is not proof where addresses are confirmed, or where
 * any person may register.
 */
export function isOperator({ config }: Context, user: { email: string; emailConfirmedAt: Date | null }): boolean {
  const isProven = user.emailConfirmedAt !== null || !(config.confirmsEmails || config.registration === 'open')
  return isProven && config.operators.includes(user.email)
}

/** Throws `forbidden` for users who are not operators, or `second_factor_required`. */
export async function findOperator(ctx: Context, request: Request): Promise<OperatorCaller> {
  const user = await findUser(ctx, request)
  const account = await ctx.prisma.user.findUniqueOrThrow({ where: { id: user.userId } })
  if (!isOperator(ctx, account)) {
    throw new AppError('forbidden', 'Only operators with a confirmed address may do this.')
  }
  await requireSecondFactor(ctx, user, 'The operator console')
  return { ...user, email: account.email }
}
