import type { AuditEntry } from '@belfry/contract'

type Action = AuditEntry['action']
type Group = Action extends `${infer Subject}.${string}` ? Subject : never

const groups: Record<Group, { label: string; actions: readonly string[] }> = {
  organization: { label: 'Organization', actions: ['created', 'changed', 'policy_changed', 'tier_changed', 'deleted'] },
  member: {
    label: 'Members',
    actions: [
      ...['joined', 'role_changed', 'removed', 'left', 'signed_in', 'sign_in_failed', 'signed_out', 'session_ended'],
      ...['password_reset_requested', 'password_reset', 'password_changed', 'identity_linked'],
    ],
  },
  invitation: { label: 'Invitations', actions: ['created', 'resent', 'revoked'] },
  workspace: { label: 'Workspaces', actions: ['created', 'changed', 'deleted'] },
  workspace_member: { label: 'Workspace members', actions: ['added', 'role_changed', 'removed'] },
  api_key: { label: 'API keys', actions: ['created', 'rolled', 'revoked'] },
  secret: { label: 'Secrets', actions: ['created', 'changed', 'deleted'] },
  signing_secret: { label: 'Signing secrets', actions: ['rotated', 'revoked'] },
  integration: { label: 'Integrations', actions: ['created', 'changed', 'deleted'] },
  dead_letter: { label: 'Dead letters', actions: ['replayed', 'discarded'] },
  queue: { label: 'Queues', actions: ['changed', 'paused', 'resumed', 'deleted'] },
  host: { label: 'Hosts', actions: ['reset'] },
  subscription: { label: 'Subscriptions', actions: ['created', 'changed', 'deleted'] },
  task: { label: 'Tasks', actions: ['changed', 'cancelled', 'stopped', 'bulk_cancelled', 'bulk_stopped'] },
  cron_job: { label: 'Cron jobs', actions: ['created', 'changed', 'paused', 'resumed', 'deleted'] },
}

/** The options of the action filter. */
export const actionGroups = Object.entries(groups).map(([value, { label }]) => ({ value, label }))

/** Returns the actions of a group, for the query of the API. An unknown group has none. */
export function actionsOf(group: string): string[] {
  return (groups[group as Group]?.actions ?? []).map(action => `${group}.${action}`) // an unknown group has no entry
}
