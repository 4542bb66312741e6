import { operations } from '@belfry/contract/operations'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { findOrganization } from './apply-groups.ts'

export const getSignInMethods = endpoint(operations.getSignInMethods, async ({ config, oidc }) => ({
  password: config.passwordLogin,
  oidc: oidc && { name: oidc.settings.name, available: oidc.problem() === null },
}))

/** Returns what operators have to know about the sign-in through the issuer, for `/readyz`. */
export async function warnOfOidc({ oidc, prisma }: Pick<Context, 'oidc' | 'prisma'>): Promise<string[]> {
  if (!oidc) return []
  await oidc.client().catch(() => null) // asks again when the last failure is a while ago
  const problem = oidc.problem()
  const named = [...new Set(oidc.settings.groupRoles.map(({ organization }) => organization))]
  const found = await Promise.all(named.map(one => findOrganization(prisma, one)))
  const unknown = named.filter((_, i) => found[i] === undefined)
  return [
    ...(problem === null ? [] : [problem]),
    ...unknown.map(name => `OIDC_GROUP_ROLES: there is no organization ${name}.`),
  ]
}
