import { operations } from '@belfry/contract/operations'
import type { Organization, UpdateOrganizationBody } from '@belfry/contract/organization'
import type { Usage } from '@belfry/contract/tier'
import type { Organization as OrganizationRow } from '@belfry/db/generated/client'
import { isUniqueViolation, type PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { readDailyUsage, readUsage, type Usage as UsedAmounts } from '@belfry/db/usage/read-usage'
import { AppError, invalidField, notFound } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { decide, flagName, policyFlags, type Role } from '@belfry/domain/permissions'
import { presentLimit } from '@belfry/domain/tiers'
import { requireConfirmedEmail } from '../account/mail-links.ts'
import { audit, changesBetween } from '../audit/audit.ts'
import { type CallerOf, requireRight } from '../auth/authorize.ts'
import type { UserCaller } from '../auth/find-user.ts'
import { requireSecondFactor, requireStepUp } from '../auth/second-factors.ts'
import { endCheckout } from '../billing/stripe/choose-tier.ts'
import { callingStripe } from '../billing/stripe/stripe-billing.ts'
import { isLive } from '../billing/stripe/subscription-state.ts'
import { presentPeriod } from '../billing/tier.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { refuseDuplicate } from '../http/errors.ts'
import { given } from '../http/given.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { created } from '../http/response.ts'
import { lockOrganization, memberUser, presentMember, requireMayOwn } from './members.ts'
import { isReservedSlug, slugOf, withSuffix } from './slug.ts'

export const listOrganizations = endpoint(operations.listOrganizations, async (ctx, { caller, query }) => {
  const memberships = { some: { userId: caller.userId } }
  const find = ({ before, take }: PageRows) =>
    ctx.prisma.organization.findMany({ where: { memberships, id: before }, orderBy: { id: 'desc' }, take })
  return readPage(`organizations:${caller.userId}`, query, find, presentOrganization)
})

export const getOrganization = endpoint(
  operations.getOrganization,
  async (ctx, { caller: { organizationId, actor } }) => {
    const row = await ctx.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } })
    if (actor.kind === 'api_key') return { id: toId('org', row.id), name: row.name, slug: row.slug, tier: row.tier }
    const used = decide(actor, 'usage.read').allowed ? await readUsage(ctx.pool, organizationId) : null
    return { ...presentOrganization(row), ...(used && { usage: presentUsage(ctx, used) }) }
  },
)

export const updateOrganization = endpoint(operations.updateOrganization, async (ctx, { caller, body }) => {
  if (body.slug && isReservedSlug(body.slug)) throw slugTaken()
  if (body.require_second_factor !== undefined) await checkRequirement(ctx, caller, body.require_second_factor)
  const changing = ctx.prisma.$transaction(tx => update(tx, caller, body))
  return refuseDuplicate(changing, slugTaken())
})

// An owner without a second factor would be refused too. Ending the requirement is as dangerous as a deletion.
async function checkRequirement(ctx: Context, caller: CallerOf<'organization.change'>, isOn: boolean) {
  const { user } = requireRight(caller, 'organization.require_second_factor')
  await (isOn ? requireSecondFactor(ctx, user) : requireStepUp(ctx, user))
}

function slugTaken(): AppError {
  return new AppError('slug_taken', 'Another organization, or Belfry itself, has this slug.')
}

async function update(tx: PrismaTransaction, caller: CallerOf<'organization.change'>, body: UpdateOrganizationBody) {
  const { name, slug, policy = {}, max_api_key_days: maxApiKeyDays, require_second_factor: requireSecondFactor } = body
  const where = { id: caller.organizationId }
  await lockOrganization(tx, where.id)
  const before = presentOrganization(await tx.organization.findUniqueOrThrow({ where }))
  const flags = Object.fromEntries(
    policyFlags.map(flag => [flag, policy[flagName(flag) as keyof typeof policy]]), // the public names of the flags
  )
  const data = given({ name, slug, maxApiKeyDays, requireSecondFactor, ...flags })
  const after = presentOrganization(await tx.organization.update({ where, data }))
  const settings = changesBetween(settingsOf(before), settingsOf(after))
  if (settings) await audit(tx, caller, 'organization.changed', after.id, settings)
  const rules = changesBetween(rulesOf(before), rulesOf(after))
  if (rules) await audit(tx, caller, 'organization.policy_changed', after.id, rules)
  return after
}

const settingsOf = ({ name, slug }: Organization) => ({ name, slug })

function rulesOf({ policy, max_api_key_days, require_second_factor }: Organization) {
  return { ...policy, max_api_key_days, require_second_factor }
}

export const deleteOrganization = endpoint(operations.deleteOrganization, async (ctx, { caller }) => {
  await requireStepUp(ctx, caller.user)
  const { organizationId: id, user, apiKeyId, address } = caller
  const { stripe } = ctx
  await refuseWithWorkspaces(ctx.prisma, id)
  if (stripe) await callingStripe(ctx, () => endCheckout(ctx, stripe, id, { userId: user.userId, apiKeyId, address }))
  await ctx.prisma.$transaction(async tx => {
    await lockOrganization(tx, id)
    await refuseWithWorkspaces(tx, id)
    await refuseWhilePaid(ctx, tx, id)
    const { name, slug } = await tx.organization.findUniqueOrThrow({ where: { id } })
    // Without members the organization is invisible, and the scheduler removes it. Its slug is free again.
    await tx.organization.update({ where: { id }, data: { deletedAt: new Date(ctx.clock.now()), slug: id } })
    await tx.membership.deleteMany({ where: { organizationId: id } })
    await tx.workspaceMember.deleteMany({ where: { workspace: { organizationId: id } } })
    await audit(tx, caller, 'organization.deleted', toId('org', id), { name, slug })
  })
})

async function refuseWithWorkspaces({ workspace }: Pick<PrismaTransaction, 'workspace'>, organizationId: string) {
  if ((await workspace.count({ where: { organizationId, deletedAt: null } })) > 0)
    throw new AppError('conflict', 'Delete the workspaces of the organization first.')
}

// A subscription that renews would be paid for nothing. A subscription that ends with its period is harmless.
async function refuseWhilePaid({ stripe }: Context, tx: PrismaTransaction, organizationId: string): Promise<void> {
  await tx.$queryRaw`SELECT FROM billing_accounts WHERE organization_id = ${organizationId}::uuid FOR UPDATE`
  const account = await tx.billingAccount.findUnique({ where: { organizationId } })
  if (stripe && account?.checkoutId)
    throw new AppError('conflict', 'A payment of the organization has just begun. Try again.')
  if (account && isLive(account) && account.nextTier !== 'free')
    throw new AppError('conflict', 'Cancel the subscription first: choose the tier free.')
}

function presentOrganization(row: OrganizationRow): Organization {
  return {
    id: toId('org', row.id),
    name: row.name,
    slug: row.slug,
    tier: row.tier,
    policy: policyOf(row),
    max_api_key_days: row.maxApiKeyDays,
    require_second_factor: row.requireSecondFactor,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

function policyOf(row: OrganizationRow) {
  const flags = policyFlags.map(flag => [flagName(flag), row[flag]])
  return Object.fromEntries(flags) as Organization['policy'] // each flag by its public name
}

export const createOrganization = endpoint(operations.createOrganization, async (ctx, { caller, body: { name } }) => {
  const base = slugOf(name)
  for (let slug = isReservedSlug(base) ? withSuffix(base) : base; ; slug = withSuffix(base)) {
    try {
      const row = await insertWithSlug(ctx, name, slug, caller)
      return created('/api/v1/organizations', presentOrganization(row))
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
    }
  }
})

function insertWithSlug(ctx: Context, name: string, slug: string, caller: UserCaller) {
  const id = newUuid()
  const memberships = { create: { userId: caller.userId, role: 'owner' as const } }
  return ctx.prisma.$transaction(async tx => {
    requireConfirmedEmail(ctx, await tx.user.findUniqueOrThrow({ where: { id: caller.userId } }))
    await requireMayOwn(ctx, tx, caller.userId)
    const row = await tx.organization.create({ data: { id, name, slug, tier: ctx.config.defaultTier, memberships } })
    const by = { organizationId: id, user: caller, apiKeyId: null, address: caller.address, right: null }
    await audit(tx, by, 'organization.created', toId('org', id), { name, slug })
    return row
  })
}

export const transferOrganization = endpoint(operations.transferOrganization, async (ctx, { caller, body }) => {
  const { organizationId, user } = caller
  const manager = requireRight(caller, 'member.manage')
  await requireStepUp(ctx, user)
  if (body.user_id === user.userId) throw invalidField('user_id', 'own_user', 'user_id must be another member.')
  const row = await ctx.prisma.$transaction(async tx => {
    await lockOrganization(tx, organizationId)
    const own = await tx.membership.findFirst({ where: { organizationId, userId: user.userId, role: 'owner' } })
    if (!own) throw new AppError('forbidden', 'Only owners can do this.') // lost meanwhile
    const next = await tx.membership.findFirst({ where: { organizationId, userId: body.user_id } })
    if (!next) throw notFound()
    if (next.role !== 'owner') await requireMayOwn(ctx, tx, next.userId)
    const setRole = async (userId: string, from: Role, role: Role) => {
      if (from !== role)
        await audit(tx, manager, 'member.role_changed', toId('user', userId), { from, to: role, transfer: true })
      const where = { organizationId_userId: { organizationId, userId } }
      return tx.membership.update({ where, data: { role }, include: { user: memberUser } })
    }
    await setRole(user.userId, 'owner', 'admin')
    return setRole(next.userId, next.role, 'owner')
  })
  return presentMember(row)
})

export const getUsage = endpoint(operations.getUsage, async (ctx, { caller }) => {
  const { organizationId } = caller
  const [used, daily] = await Promise.all([
    readUsage(ctx.pool, organizationId),
    readDailyUsage(ctx.pool, organizationId),
  ])
  if (!used) throw notFound()
  return { ...presentUsage(ctx, used), daily }
})

/** Returns the public form of what an organization has used of its tier, without the single days. */
function presentUsage({ config }: Context, used: UsedAmounts): Omit<Usage, 'daily'> {
  const limits = config.tiers[used.tier]
  return {
    period: presentPeriod(used.now),
    executions: { used: used.executions, limit: presentLimit(limits.executions) },
    storage_bytes: { used: used.storageBytes, limit: presentLimit(limits.storageBytes) },
    workspaces: { used: used.workspaces, limit: limits.workspaces },
  }
}
