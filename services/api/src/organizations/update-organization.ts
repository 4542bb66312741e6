import { organization, type UpdateOrganizationBody, updateOrganizationBody } from '@belfry/contract'
import { isUniqueViolation, type PrismaTransaction } from '@belfry/db/prisma'
import { AppError, flagName, policyFlags } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import type { OrganizationCaller } from '../auth/authorize.ts'
import { endpoint } from '../http/endpoint.ts'
import { given } from '../http/given.ts'
import { ok } from '../http/reply.ts'
import { lockOrganization } from './lock-organization.ts'
import { type OrganizationRow, presentOrganization } from './present-organization.ts'
import { isReservedSlug } from './slug.ts'

export const updateOrganization = endpoint({
  right: 'organization.change',
  summary: 'Change the name, the slug or the policy of an organization',
  answer: { status: 200, body: organization },
  refusals: ['slug_taken'],
  params: { org: 'org' },
  body: updateOrganizationBody,
  async handle(ctx, { caller, body }) {
    if (body.slug && isReservedSlug(body.slug)) throw slugTaken()
    const row = await ctx.prisma
      .$transaction(tx => update(tx, caller, body))
      .catch(error => {
        throw isUniqueViolation(error) ? slugTaken() : error
      })
    return ok(presentOrganization(row))
  },
})

function slugTaken(): AppError {
  return new AppError('slug_taken', 'Another organization, or Belfry itself, has this slug.')
}

async function update(
  tx: PrismaTransaction,
  caller: OrganizationCaller,
  { name, slug, policy = {} }: UpdateOrganizationBody,
): Promise<OrganizationRow> {
  const where = { id: caller.organizationId }
  await lockOrganization(tx, caller.organizationId)
  const before = await tx.organization.findUniqueOrThrow({ where })
  const flags = Object.fromEntries(
    policyFlags.map(flag => [flag, policy[flagName(flag) as keyof typeof policy]]), // the public names of the flags
  )
  const after = await tx.organization.update({ where, data: given({ name, slug, ...flags }) })
  await auditChanges(tx, caller, presentOrganization(before), presentOrganization(after))
  return after
}

type Presented = ReturnType<typeof presentOrganization>

async function auditChanges(tx: PrismaTransaction, caller: OrganizationCaller, before: Presented, after: Presented) {
  const settings = changes({ name: before.name, slug: before.slug }, { name: after.name, slug: after.slug })
  if (settings) await audit(tx, caller, { action: 'organization.changed', objectId: after.id, details: settings })
  const policy = changes(before.policy, after.policy)
  if (policy) await audit(tx, caller, { action: 'organization.policy_changed', objectId: after.id, details: policy })
}

// Returns the changed members with their old and new values; null when there are none.
function changes<T extends Record<string, unknown>>(before: T, after: T): Record<string, unknown> | null {
  const changed = Object.keys(before).filter(key => before[key] !== after[key])
  return changed.length === 0
    ? null
    : Object.fromEntries(changed.map(key => [key, { from: before[key], to: after[key] }]))
}
