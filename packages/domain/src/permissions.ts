/** Spec 2.6. */
export const roles = ['owner', 'admin', 'member'] as const
export type Role = (typeof roles)[number]

/** What a member may do in one workspace: read, or also create, change and replay. */
export const workspaceRoles = ['viewer', 'editor'] as const
export type WorkspaceRole = (typeof workspaceRoles)[number]

/** Spec 2.5: what members, as opposed to owners and admins, may do. */
export const policyFlags = [
  'membersCanInvite',
  'membersCanCreateApiKeys',
  'membersCanCreateSecrets',
  'membersCanCreateWorkspaces',
  'membersCanDeleteTasks',
  'membersCanManageIntegrations',
] as const
export type PolicyFlag = (typeof policyFlags)[number]
export type Policy = Record<PolicyFlag, boolean>

type Rule = {
  /** Whether it is done to an organization as a whole or inside one workspace. */
  scope: 'organization' | 'workspace'
  /** The least role that may do it. */
  least: Role
  /** What a member has to be in the workspace; owners and admins need not belong to it. */
  workspaceRole?: WorkspaceRole
  /** The policy flag without which a member may not do it. */
  flag?: PolicyFlag
  /** Whether a workspace's API key may do it. */
  apiKey: boolean
}

const reading = { scope: 'workspace', least: 'member', workspaceRole: 'viewer', apiKey: true } as const
const writing = { ...reading, workspaceRole: 'editor' } as const
const deleting = { ...writing, flag: 'membersCanDeleteTasks' } as const
const keepingKeys = { ...reading, flag: 'membersCanCreateApiKeys', apiKey: false } as const
const keepingSecrets = { ...reading, flag: 'membersCanCreateSecrets' } as const
const keepingIntegrations = { ...reading, flag: 'membersCanManageIntegrations' } as const
const runningWorkspace = { scope: 'workspace', least: 'admin', apiKey: false } as const

const everybody = { scope: 'organization', least: 'member', apiKey: false } as const
const inviting = { ...everybody, flag: 'membersCanInvite' } as const
const running = { ...everybody, least: 'admin' } as const
const owning = { ...everybody, least: 'owner' } as const

/** Every right there is. Nothing else decides one. */
export const rights = {
  'organization.read': { ...everybody, apiKey: true },
  'organization.change': running,
  'organization.delete': owning,
  'member.read': everybody,
  'member.manage': running,
  'member.leave': everybody,
  'invitation.read': inviting,
  'invitation.create': inviting,
  'invitation.revoke': inviting,
  'workspace.list': { ...everybody, apiKey: true },
  'workspace.create': { ...everybody, flag: 'membersCanCreateWorkspaces' },
  'usage.read': owning,
  'billing.read': owning,
  'billing.change': owning,
  'audit_log.read': running,
  'organization_run.read': everybody,

  'workspace.read': reading,
  'workspace.change': runningWorkspace,
  'workspace.delete': runningWorkspace,
  'workspace_member.read': reading,
  'workspace_member.manage': runningWorkspace,
  'api_key.read': keepingKeys,
  'api_key.create': keepingKeys,
  'api_key.revoke': keepingKeys,
  'secret.read': keepingSecrets,
  'secret.write': keepingSecrets,
  'secret.delete': keepingSecrets,
  'signing_secret.read': keepingSecrets,
  'signing_secret.rotate': keepingSecrets,
  'signing_secret.revoke': keepingSecrets,
  'integration.read': keepingIntegrations,
  'integration.write': keepingIntegrations,
  'integration.delete': keepingIntegrations,
  'task.read': reading,
  'task.write': writing,
  'task.delete': deleting,
  'cron_job.read': reading,
  'cron_job.write': writing,
  'cron_job.delete': deleting,
  'run.read': reading,
  'dead_letter.read': reading,
  'dead_letter.replay': writing,
  'dead_letter.discard': deleting,
  'event.publish': writing,
  'subscription.read': reading,
  'subscription.write': writing,
  'subscription.delete': deleting,
} as const satisfies Record<string, Rule>

export type Action = keyof typeof rights
export type ActionIn<Scope extends Rule['scope']> = {
  [A in Action]: (typeof rights)[A]['scope'] extends Scope ? A : never
}[Action]

/** Who wants to do something: a workspace's API key, or a user with what that user is there. */
export type Actor =
  | { kind: 'api_key' }
  | { kind: 'user'; role: Role; policy: Policy /** Null outside a workspace. */; workspaceRole: WorkspaceRole | null }

export type Decision = { allowed: true } | { allowed: false; reason: string }

/** Decides a right. The reason of a refusal names the role or the policy flag that is missing. */
export function decide(actor: Actor, action: Action): Decision {
  const rule: Rule = rights[action]
  if (actor.kind === 'api_key') {
    return rule.apiKey ? { allowed: true } : refusal('An API key may not do this; it takes a signed-in user.')
  }
  if (roles.indexOf(actor.role) > roles.indexOf(rule.least)) {
    return refusal(`This takes the role ${rule.least === 'owner' ? 'owner' : 'owner or admin'}.`)
  }
  if (actor.role !== 'member') return { allowed: true }
  if (rule.workspaceRole && !isAtLeast(actor.workspaceRole, rule.workspaceRole)) {
    return refusal(`A member needs the role ${rule.workspaceRole} in the workspace for this.`)
  }
  if (rule.flag && !actor.policy[rule.flag]) {
    return refusal(`A member may do this only when the organization's policy sets ${flagName(rule.flag)}.`)
  }
  return { allowed: true }
}

/** Whether somebody with one role may give or take another: nobody hands out more than what they are. */
export function mayGrant(own: Role, other: Role): boolean {
  return roles.indexOf(own) <= roles.indexOf(other)
}

/** The name of a policy flag in the interface. */
export function flagName(flag: PolicyFlag): string {
  return flag.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

function isAtLeast(has: WorkspaceRole | null, needs: WorkspaceRole): boolean {
  return has !== null && workspaceRoles.indexOf(has) >= workspaceRoles.indexOf(needs)
}

function refusal(reason: string): Decision {
  return { allowed: false, reason }
}
