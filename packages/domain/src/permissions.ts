export const roles = ['owner', 'admin', 'member'] as const
export type Role = (typeof roles)[number]

/** The roles in a workspace: a viewer reads, an editor also creates, changes and replays. */
export const workspaceRoles = ['viewer', 'editor'] as const
export type WorkspaceRole = (typeof workspaceRoles)[number]

// What members, as opposed to owners and admins, may do if the policy of their organization sets the flag.
const flagTexts = {
  membersCanInvite: 'invite people',
  membersCanCreateApiKeys: 'create API keys',
  membersCanCreateSecrets: 'manage secrets',
  membersCanCreateWorkspaces: 'create workspaces',
  membersCanDeleteTasks: 'cancel or delete work',
  membersCanManageIntegrations: 'manage integrations',
}
export type PolicyFlag = keyof typeof flagTexts
export const policyFlags = Object.keys(flagTexts) as PolicyFlag[]
export type Policy = Record<PolicyFlag, boolean>

type Rule = {
  /** Whether the action concerns an organization as a whole or one workspace. */
  scope: 'organization' | 'workspace'
  minRole: Role
  /** The role that a member needs in the workspace. Owners and admins need not belong to it. */
  workspaceRole?: WorkspaceRole
  /** The policy flag that members need. */
  flag?: PolicyFlag
  /** Whether a workspace's API key is allowed. */
  apiKey: boolean
}

const viewers = { scope: 'workspace', minRole: 'member', workspaceRole: 'viewer', apiKey: true } as const
const editors = { ...viewers, workspaceRole: 'editor' } as const
const deleters = { ...editors, flag: 'membersCanDeleteTasks' } as const
const keyHolders = { ...viewers, flag: 'membersCanCreateApiKeys', apiKey: false } as const
const secretHolders = { ...viewers, flag: 'membersCanCreateSecrets' } as const
const integrationHolders = { ...viewers, flag: 'membersCanManageIntegrations' } as const
const workspaceAdmins = { scope: 'workspace', minRole: 'admin', apiKey: false } as const

const members = { scope: 'organization', minRole: 'member', apiKey: false } as const
const inviters = { ...members, flag: 'membersCanInvite' } as const
const admins = { ...members, minRole: 'admin' } as const
const owners = { ...members, minRole: 'owner' } as const

export const rights = {
  'organization.read': { ...members, apiKey: true },
  'organization.change': admins,
  'organization.delete': owners,
  'organization.transfer': owners,
  'organization.require_second_factor': owners,
  'member.read': members,
  'member.manage': admins,
  'member.leave': members,
  'invitation.read': inviters,
  'invitation.create': inviters,
  'invitation.revoke': inviters,
  'workspace.list': { ...members, apiKey: true },
  'workspace.create': { ...members, flag: 'membersCanCreateWorkspaces' },
  'usage.read': owners,
  'billing.read': owners,
  'billing.change': owners,
  'audit_log.read': admins,
  'audit_log.stream': owners,
  'organization_run.read': members,

  'workspace.read': viewers,
  'workspace.change': workspaceAdmins,
  'workspace.delete': workspaceAdmins,
  'workspace_member.read': viewers,
  'workspace_member.manage': workspaceAdmins,
  'api_key.read': keyHolders,
  'api_key.create': keyHolders,
  'api_key.revoke': keyHolders,
  'federated_credential.read': workspaceAdmins,
  'federated_credential.create': workspaceAdmins,
  'federated_credential.delete': workspaceAdmins,
  'secret.read': secretHolders,
  'secret.write': secretHolders,
  'secret.delete': secretHolders,
  // To refer to a secret that may go to any host.
  'secret.use': editors,
  'connection.read': viewers,
  'connection.write': secretHolders,
  'connection.delete': secretHolders,
  'connection.test': secretHolders,
  'signing_secret.read': secretHolders,
  'signing_secret.rotate': secretHolders,
  'signing_secret.revoke': secretHolders,
  'integration.read': integrationHolders,
  'integration.write': integrationHolders,
  'integration.delete': integrationHolders,
  'task.read': viewers,
  'task.create': editors,
  'task.write': editors,
  'task.delete': deleters,
  'cron_job.read': viewers,
  'cron_job.write': editors,
  'cron_job.delete': deleters,
  'run.read': viewers,
  'host.read': viewers,
  'host.reset': editors,
  'host.write': editors,
  'queue.read': viewers,
  'queue.write': editors,
  'queue.delete': deleters,
  'dead_letter.read': viewers,
  'dead_letter.replay': editors,
  'dead_letter.discard': deleters,
  'event.publish': editors,
  'subscription.read': viewers,
  'subscription.write': editors,
  'subscription.delete': deleters,
} as const satisfies Record<string, Rule>

export type Action = keyof typeof rights
export type ActionIn<Scope extends Rule['scope']> = {
  [A in Action]: (typeof rights)[A]['scope'] extends Scope ? A : never
}[Action]

export const keyRights = (Object.keys(rights) as Action[]).filter(action => rights[action].apiKey)

/** The names of groups of rights of an API key. `read` leaves out the values of signing secrets. */
export const keyScopes = {
  full: keyRights,
  read: keyRights.filter(action => /\.(read|list)$/.test(action) && action !== 'signing_secret.read'),
  publish: ['task.create', 'event.publish'],
} as const satisfies Record<string, readonly Action[]>

// The right to write tasks includes the right to create them.
const included: Partial<Record<string, Action>> = { 'task.write': 'task.create' }

/** Returns the rights that the scopes of an API key stand for. */
export function rightsOfScopes(scopes: readonly string[]): Set<Action> {
  const all = scopes.flatMap((scope): ReadonlyArray<string | undefined> => groupOf(scope) ?? [scope, included[scope]])
  return new Set(keyRights.filter(action => all.includes(action)))
}

/** Returns whether scopes have rights beyond `read` and `publish`. A list can have as many rights as `full`. */
export function isWideKey(scopes: readonly string[]): boolean {
  const narrow = rightsOfScopes(['read', 'publish'])
  return [...rightsOfScopes(scopes)].some(right => !narrow.has(right))
}

/** The caller: a workspace's API key, or a user with their roles. */
export type Actor =
  | { kind: 'api_key' /** Names of `keyScopes`, and rights. */; scopes: readonly string[] }
  | { kind: 'user'; role: Role; policy: Policy /** Null outside a workspace. */; workspaceRole: WorkspaceRole | null }

export type Decision = { allowed: true } | { allowed: false; reason: string }

/** Decides whether an actor may perform an action. The reason of a refusal names the missing role or what the policy forbids. */
export function decide(actor: Actor, action: Action): Decision {
  const rule: Rule = rights[action]
  if (actor.kind === 'api_key') {
    if (!rule.apiKey) return refusal('API keys cannot do this; sign in as a user.')
    const isInScope = actor.scopes.includes('full') || rightsOfScopes(actor.scopes).has(action)
    return isInScope ? { allowed: true } : refusal(`This API key lacks the right ${action}.`)
  }
  if (roles.indexOf(actor.role) > roles.indexOf(rule.minRole)) {
    return refusal(`Only ${rule.minRole === 'owner' ? 'owners' : 'owners and admins'} can do this.`)
  }
  if (actor.role !== 'member') return { allowed: true }
  if (rule.workspaceRole && !isAtLeast(actor.workspaceRole, rule.workspaceRole)) {
    return refusal(`You need the ${rule.workspaceRole === 'editor' ? 'Editor' : 'Viewer'} role in this workspace.`)
  }
  if (rule.flag && !actor.policy[rule.flag]) {
    return refusal(
      `Your organization doesn't let members ${flagTexts[rule.flag]}. An owner or admin can change this in Policy.`,
    )
  }
  return { allowed: true }
}

/** Returns whether a user with one role may grant or revoke another: only roles up to their own. */
export function mayGrant(own: Role, other: Role): boolean {
  return roles.indexOf(own) <= roles.indexOf(other)
}

/**
 * Returns the scopes of an API key that a user creates: at most the rights that the user has. A named scope is narrowed to
 * them; `refused` has the single rights that the user lacks.
 * @param wanted - Names of `keyScopes`, and rights.
 */
export function scopesOfKeyBy(
  creator: Actor,
  wanted: readonly string[] = ['full'],
): { scopes: string[]; refused: string[] } {
  const mayGive = (action: Action) => decide(creator, action).allowed
  const refused = wanted.filter(one => !groupOf(one) && !mayGive(one as Action))
  const scopes = wanted.flatMap((scope): readonly string[] => {
    const group = groupOf(scope)
    return !group || group.every(mayGive) ? [scope] : group.filter(mayGive)
  })
  return { scopes: scopes.includes('full') ? ['full'] : [...new Set(scopes)], refused }
}

function groupOf(scope: string): readonly Action[] | undefined {
  return Object.hasOwn(keyScopes, scope) ? keyScopes[scope as keyof typeof keyScopes] : undefined
}

export function lowerWorkspaceRole(one: WorkspaceRole, other: WorkspaceRole): WorkspaceRole {
  return isAtLeast(one, other) ? other : one
}

/** Returns the name of a policy flag in the API. */
export function flagName(flag: PolicyFlag): string {
  return flag.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

function isAtLeast(has: WorkspaceRole | null, needs: WorkspaceRole): boolean {
  return has !== null && workspaceRoles.indexOf(has) >= workspaceRoles.indexOf(needs)
}

function refusal(reason: string): Decision {
  return { allowed: false, reason }
}
