import type { AuditEntry } from '@belfry/contract'

type Action = AuditEntry['action']
type Group = Action extends `${infer Subject}.${string}` ? Subject : never

const groups: Record<Group, { label: string; deeds: readonly string[] }> = {
  organization: { label: 'Organization', deeds: ['created', 'changed', 'policy_changed', 'tier_changed', 'deleted'] },
  member: { label: 'Members', deeds: ['joined', 'role_changed', 'removed', 'left'] },
  invitation: { label: 'Invitations', deeds: ['created', 'resent', 'revoked'] },
  workspace: { label: 'Workspaces', deeds: ['created', 'changed', 'deleted'] },
  workspace_member: { label: 'Members of workspaces', deeds: ['added', 'role_changed', 'removed'] },
  api_key: { label: 'API keys', deeds: ['created', 'revoked'] },
  secret: { label: 'Secrets', deeds: ['created', 'changed', 'deleted'] },
  signing_secret: { label: 'Signing secrets', deeds: ['rotated', 'revoked'] },
  integration: { label: 'Integrations', deeds: ['created', 'changed', 'deleted'] },
  dead_letter: { label: 'Dead letters', deeds: ['replayed', 'discarded'] },
  host: { label: 'Hosts', deeds: ['reset'] },
  subscription: { label: 'Subscriptions', deeds: ['created', 'changed', 'deleted'] },
  task: { label: 'Tasks', deeds: ['cancelled'] },
  cron_job: { label: 'Cron jobs', deeds: ['created', 'changed', 'paused', 'resumed', 'deleted'] },
}

/** What the log can be narrowed to. */
export const actionGroups = Object.entries(groups).map(([value, { label }]) => ({ value, label }))

/** The actions of a group, for the query of the API; none for a group that there is not. */
export function actionsOf(group: string): string[] {
  return (groups[group as Group]?.deeds ?? []).map(deed => `${group}.${deed}`) // what is unknown has none
}
