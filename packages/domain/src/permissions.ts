/** Spec 2.6. */
export type Role = 'owner' | 'admin' | 'member'

/** Spec 2.5: what members, as opposed to owners and admins, may do. */
export type Policy = {
  membersCanCreateApiKeys: boolean
  membersCanCreateWorkspaces: boolean
}

/** Everything that needs a right. Owners and admins have each of these; a member needs the flag. */
const flags = {
  'workspace.create': 'membersCanCreateWorkspaces',
  'api_key.create': 'membersCanCreateApiKeys',
} as const satisfies Record<string, keyof Policy>

export type Action = keyof typeof flags

export type Decision = { allowed: true } | { allowed: false; reason: string }

/** Decides a right. */
export function mayDo(role: Role, policy: Policy, action: Action): Decision {
  if (role === 'owner' || role === 'admin' || policy[flags[action]]) return { allowed: true }
  const flag = flags[action].replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  return { allowed: false, reason: `A member may do this only when the organization's policy sets ${flag}.` }
}
