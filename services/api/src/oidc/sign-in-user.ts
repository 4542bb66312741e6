import { recordAccountEntry } from '@belfry/db/account-log'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import type { AuditAction } from '@belfry/domain/audit-action'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import type { Role, WorkspaceRole } from '@belfry/domain/permissions'
import type { Request } from 'express'
import { recordConfirmedEmail } from '../account/mail-links.ts'
import { noPasswordHash } from '../account/password.ts'
import { hasAccountsForUpdate, requireOpenRegistration } from '../account/registration.ts'
import { startSession, type UserRow } from '../account/sessions.ts'
import { audit } from '../audit/audit.ts'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { isLastOwner, isOwnerSuspended, lockOrganization, removeMembership } from '../organizations/members.ts'
import { readQuota, refuseOverCount } from '../quotas/quotas.ts'
import { type Identity, OidcSignInError } from './read-identity.ts'
import { type Granted, type OidcSettings, rolesOf } from './settings.ts'

/** Signs a user in whom the issuer has identified: finds or creates the account, and sets the roles of its groups. */
export async function signInUser(
  ctx: Context,
  settings: OidcSettings,
  identity: Identity,
  { request, logoutHint }: { request: Request; logoutHint: string },
): Promise<Awaited<ReturnType<typeof startSession>>> {
  const address = callerAddress(request)
  return ctx.prisma.$transaction(async tx => {
    // One transaction per identity and per address, so two first sign-ins do not create or link two accounts.
    await lockText(tx, identity.email)
    await lockText(tx, `${identity.issuer} ${identity.subject}`)
    const user = await findOrCreate(ctx, tx, settings, identity, address)
    if (user.suspendedAt) throw new OidcSignInError('suspended', 'The user is suspended.')
    const roles = rolesOf(settings.groupRoles, identity.groups)
    await applyGroups(ctx, tx, roles, { userId: user.id, address })
    return startSession(ctx, tx, user, request, { hasSecondFactor: identity.hasSecondFactor, logoutHint })
  })
}

async function lockText(tx: PrismaTransaction, text: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`oidc ${text}`}, 0))`
}

async function findOrCreate(
  ctx: Context,
  tx: PrismaTransaction,
  settings: OidcSettings,
  identity: Identity,
  address: string,
): Promise<UserRow & { suspendedAt: Date | null }> {
  const { issuer, subject, email, name } = identity
  const linked = await tx.userIdentity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    include: { user: true },
  })
  if (linked) return linked.user
  const user = await tx.user.findUnique({ where: { email }, include: { identities: { where: { issuer } } } })
  if (!user) {
    await requireAdmission(ctx, tx, settings, identity)
    const emailConfirmedAt = new Date(ctx.clock.now())
    const identities = { create: { issuer, subject } }
    return tx.user.create({
      data: { id: newUuid(), email, name, passwordHash: await noPasswordHash(), emailConfirmedAt, identities },
    })
  }
  // An address that the issuer has given to another person does not open the account of the previous one.
  if (user.identities.length > 0) {
    throw new OidcSignInError('linked_to_another', 'The account is linked to another identity of the issuer.')
  }
  await recordConfirmedEmail(ctx, tx, user.id, { proof: 'issuer', address })
  await tx.userIdentity.create({ data: { issuer, subject, userId: user.id } })
  await recordAccountEntry(tx, { userId: user.id, action: 'identity_linked', address })
  return user
}

/** Throws unless a new user may have an account: by a group, a domain, an invitation or open registration. */
async function requireAdmission(
  ctx: Context,
  tx: PrismaTransaction,
  { domains, groupRoles }: OidcSettings,
  { email, groups }: Identity,
): Promise<void> {
  const refused = (cause?: unknown) => new OidcSignInError('no_account', 'The user may not get an account.', cause)
  if (ctx.config.registration === 'closed') throw refused()
  const isMapped = [...rolesOf(groupRoles, groups).values()].some(granted => granted !== null)
  if (isMapped || domains.length > 0) return // readIdentity has checked the domain
  const now = new Date(ctx.clock.now())
  const open = { email, acceptedAt: null, revokedAt: null, expiresAt: { gt: now }, organization: { deletedAt: null } }
  if ((await tx.invitation.count({ where: open })) > 0) return
  try {
    requireOpenRegistration(ctx.config, email, await hasAccountsForUpdate(tx))
  } catch (error) {
    throw error instanceof AppError ? refused(error) : error
  }
}

type By = { userId: string; address: string }

/**
 * Gives a user exactly the roles of their groups, in each organization of the mapping. This may lower or remove roles.
 * An organization keeps its last owner.
 */
async function applyGroups(ctx: Context, tx: PrismaTransaction, roles: Map<string, Granted | null>, by: By) {
  const wanted = new Map<string, Granted | null>()
  for (const [named, granted] of roles) {
    const id = await findOrganization(tx, named)
    if (id === undefined) ctx.log.warn({ organization: named }, 'oidc.unknown_organization')
    // An organization may be in the mapping by its slug and by its id.
    else wanted.set(id, wanted.get(id) ?? granted)
  }
  // In one order, so two sign-ins do not wait for each other.
  for (const id of [...wanted.keys()].sort()) {
    await lockOrganization(tx, id)
    await apply(ctx, tx, id, wanted.get(id) ?? null, by)
  }
}

/** Returns the id of an organization that the mapping names by its id or its slug. */
export async function findOrganization(tx: PrismaTransaction, named: string): Promise<string | undefined> {
  const id = fromId('org', named)
  const where = { ...(id === null ? { slug: named } : { id }), deletedAt: null }
  return (await tx.organization.findFirst({ where, select: { id: true } }))?.id
}

async function apply(ctx: Context, tx: PrismaTransaction, organizationId: string, granted: Granted | null, by: By) {
  const key = { organizationId_userId: { organizationId, userId: by.userId } }
  const present = await tx.membership.findUnique({ where: key })
  if (!granted && !present) return
  const isLosingOwner = present?.role === 'owner' && granted?.role !== 'owner'
  if (isLosingOwner && (await isLastOwner(tx, organizationId, by.userId))) {
    ctx.log.warn({ organization: toId('org', organizationId), user: toId('user', by.userId) }, 'oidc.last_owner_kept')
    return
  }
  if (!granted) {
    await removeMembership(tx, organizationId, by.userId)
    return record(tx, { organizationId }, by, 'member.removed', { role: present?.role })
  }
  if (!present) {
    const quota = await readQuota(ctx, organizationId)
    refuseOverCount(quota, 'members', await tx.membership.count({ where: { organizationId } }))
    await tx.membership.create({ data: { organizationId, userId: by.userId, role: granted.role } })
    await record(tx, { organizationId }, by, 'member.joined', { role: granted.role })
  } else if (present.role !== granted.role) {
    // A member for longer than the suspended owner would end the suspension.
    if (granted.role === 'owner' && (await isOwnerSuspended(tx, organizationId))) return
    await tx.membership.update({ where: key, data: { role: granted.role } })
    await record(tx, { organizationId }, by, 'member.role_changed', { from: present.role, to: granted.role })
  }
  if (granted.workspaceRole || present?.workspaceRoleOfGroups) {
    await applyToWorkspaces(tx, organizationId, granted.workspaceRole, by)
  }
}

// Without a role, the member leaves the workspaces that earlier groups gave.
async function applyToWorkspaces(
  tx: PrismaTransaction,
  organizationId: string,
  role: WorkspaceRole | undefined,
  by: By,
): Promise<void> {
  const { userId } = by
  await tx.membership.update({
    where: { organizationId_userId: { organizationId, userId } },
    data: { workspaceRole: role ?? 'viewer', workspaceRoleOfGroups: role !== undefined },
  })
  const workspaces = await tx.workspace.findMany({
    where: { organizationId, deletedAt: null },
    select: { id: true, members: { where: { userId }, select: { role: true } } },
  })
  for (const { id: workspaceId, members } of workspaces) {
    const from = members[0]?.role
    const place = { organizationId, workspaceId }
    if (role === undefined) {
      if (from) await record(tx, place, by, 'workspace_member.removed')
    } else if (from === undefined) await record(tx, place, by, 'workspace_member.added', { role })
    else if (from !== role) await record(tx, place, by, 'workspace_member.role_changed', { from, to: role })
  }
  const present = { userId, workspace: { organizationId } }
  if (role === undefined) {
    await tx.workspaceMember.deleteMany({ where: present })
    return
  }
  const data = workspaces.map(({ id: workspaceId }) => ({ workspaceId, userId, role }))
  await tx.workspaceMember.createMany({ data, skipDuplicates: true })
  await tx.workspaceMember.updateMany({ where: present, data: { role } })
}

async function record(
  tx: PrismaTransaction,
  place: { organizationId: string; workspaceId?: string },
  { userId, address }: By,
  action: AuditAction,
  details: Record<string, Role | WorkspaceRole | undefined> = {},
): Promise<void> {
  const who = { ...place, user: { userId }, apiKeyId: null, address, right: null }
  await audit(tx, who, action, toId('user', userId), { ...details, by: 'oidc' })
}
