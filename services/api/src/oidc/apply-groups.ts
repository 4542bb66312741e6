import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { fromId, toId } from '@belfry/domain/id'
import type { Role } from '@belfry/domain/permissions'
import { audit } from '../audit/audit.ts'
import type { Context } from '../context.ts'
import { lockOrganization } from '../organizations/lock-organization.ts'
import { readQuota, refuseOverCount } from '../quotas/quotas.ts'
import { type Granted, rolesOf } from './group-roles.ts'
import type { Identity } from './read-identity.ts'
import type { OidcSettings } from './settings.ts'

type By = { userId: string; address: string }

/**
 * Gives a user exactly the roles of their groups, in each organization of the mapping: also lower ones, and none. An
 * organization keeps its last owner.
 */
export async function applyGroups(
  ctx: Context,
  tx: PrismaTransaction,
  { groupRoles }: OidcSettings,
  { groups }: Identity,
  by: By,
): Promise<void> {
  const granted = [...rolesOf(groupRoles, groups)]
  const found = await Promise.all(granted.map(([named]) => findOrganization(tx, named)))
  const wanted = new Map<string, Granted | null>()
  for (const [i, [named, roles]] of granted.entries()) {
    const id = found[i]
    if (id === undefined) ctx.log.warn({ organization: named }, 'oidc.unknown_organization')
    // An organization may be in the mapping by its slug and by its id.
    else wanted.set(id, wanted.get(id) ?? roles)
  }
  // In one order, so two sign-ins do not wait for each other.
  for (const id of [...wanted.keys()].sort()) {
    await lockOrganization(tx, id)
    await apply(ctx, tx, id, wanted.get(id) ?? null, by)
  }
}

/** Returns the id of an organization that the mapping names by its id or its slug. */
export async function findOrganization(
  tx: Pick<PrismaTransaction, 'organization'>,
  named: string,
): Promise<string | undefined> {
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
    await tx.workspaceMember.deleteMany({ where: { userId: by.userId, workspace: { organizationId } } })
    await tx.membership.delete({ where: key })
    return record(tx, organizationId, by, 'member.removed', { role: present?.role })
  }
  if (!present) {
    const quota = await readQuota(ctx, organizationId)
    refuseOverCount(quota, 'members', await tx.membership.count({ where: { organizationId } }))
    const roles = { role: granted.role, workspaceRole: granted.workspaceRole ?? 'viewer' }
    await tx.membership.create({ data: { organizationId, userId: by.userId, ...roles } })
    await record(tx, organizationId, by, 'member.joined', { role: granted.role })
  } else if (present.role !== granted.role) {
    await tx.membership.update({ where: key, data: { role: granted.role } })
    await record(tx, organizationId, by, 'member.role_changed', { from: present.role, to: granted.role })
  }
  if (granted.workspaceRole) await applyToWorkspaces(tx, organizationId, granted.workspaceRole, by.userId)
}

async function applyToWorkspaces(
  tx: PrismaTransaction,
  organizationId: string,
  role: NonNullable<Granted['workspaceRole']>,
  userId: string,
): Promise<void> {
  await tx.membership.update({
    where: { organizationId_userId: { organizationId, userId } },
    data: { workspaceRole: role },
  })
  const workspaces = await tx.workspace.findMany({ where: { organizationId, deletedAt: null }, select: { id: true } })
  const data = workspaces.map(({ id: workspaceId }) => ({ workspaceId, userId, role }))
  await tx.workspaceMember.createMany({ data, skipDuplicates: true })
  await tx.workspaceMember.updateMany({ where: { userId, workspace: { organizationId } }, data: { role } })
}

async function isLastOwner(tx: PrismaTransaction, organizationId: string, userId: string): Promise<boolean> {
  return (await tx.membership.count({ where: { organizationId, role: 'owner', userId: { not: userId } } })) === 0
}

type MemberAction = 'member.joined' | 'member.removed' | 'member.role_changed'

async function record(
  tx: PrismaTransaction,
  organizationId: string,
  { userId, address }: By,
  action: MemberAction,
  details: Record<string, Role | undefined>,
): Promise<void> {
  const who = { organizationId, user: { userId }, apiKeyId: null, address, right: null }
  await audit(tx, who, { action, objectId: toId('user', userId), details: { ...details, by: 'oidc' } })
}
