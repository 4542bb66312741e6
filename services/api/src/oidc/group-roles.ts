import { fromId } from '@belfry/domain/id'
import { type Role, roles, type WorkspaceRole, workspaceRoles } from '@belfry/domain/permissions'
import { z } from 'zod'

/** The role that the members of a group have in an organization. */
export type GroupRole = {
  group: string
  /** The slug of the organization, or its id, which stays when the slug changes. */
  organization: string
  role: Role
  /** The role of members in every workspace. Without it, owners and admins add them to workspaces. */
  workspaceRole?: WorkspaceRole | undefined
}

const grant = z.strictObject({
  organization: z
    .string()
    .refine(text => fromId('org', text) !== null || /^[a-z0-9](-?[a-z0-9])*$/.test(text), 'must be a slug or an id'),
  role: z.enum(roles),
  workspace_role: z.enum(workspaceRoles).optional(),
})

const byGroup = z.record(z.string().min(1), z.union([grant, z.array(grant)]))

/**
 * Parses `{"ops":{"organization":"acme","role":"admin"}}`. A group may have a list of such roles.
 * @throws Error that names the wrong part.
 */
export function parseGroupRoles(text: string): GroupRole[] {
  const result = byGroup.safeParse(parseJson(text))
  if (!result.success) {
    const [issue] = result.error.issues
    throw new Error(`must be an object of roles by group; ${issue?.path.join('.')}: ${issue?.message}`)
  }
  return Object.entries(result.data).flatMap(([group, given]) =>
    [given].flat().map(({ organization, role, workspace_role: workspaceRole }) => ({
      group,
      organization,
      role,
      workspaceRole,
    })),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('must be JSON')
  }
}

/** The roles of a user in an organization. */
export type Granted = { role: Role; workspaceRole: WorkspaceRole | undefined }

/** Returns the highest role that a user's groups give in each organization of the mapping; null where they give none. */
export function rolesOf(mapping: readonly GroupRole[], groups: readonly string[]): Map<string, Granted | null> {
  const granted = new Map<string, Granted | null>()
  for (const { group, organization, role, workspaceRole } of mapping) {
    const present = granted.get(organization) ?? null
    if (!groups.includes(group)) {
      granted.set(organization, present)
      continue
    }
    granted.set(organization, {
      role: highest(roles, present?.role, role) ?? role,
      workspaceRole: highest([...workspaceRoles].reverse(), present?.workspaceRole, workspaceRole),
    })
  }
  return granted
}

// `order` begins with the highest.
function highest<T>(order: readonly T[], ...given: Array<T | undefined>): T | undefined {
  return order.find(one => given.includes(one))
}
