import { type AuditAction, auditActions } from '@belfry/domain/audit-action'
import { optionsOf } from '../../ui/field.tsx'

type Group = AuditAction extends `${infer Subject}.${string}` ? Subject : never

const labels: Record<Group, string> = {
  organization: 'Organization',
  audit_stream: 'Audit stream',
  member: 'Members',
  invitation: 'Invitations',
  workspace: 'Workspaces',
  workspace_member: 'Workspace members',
  api_key: 'API keys',
  connection: 'Connections',
  federated_credential: 'Federated credentials',
  secret: 'Secrets',
  signing_secret: 'Signing secrets',
  integration: 'Integrations',
  dead_letter: 'Dead letters',
  queue: 'Queues',
  host: 'Hosts',
  subscription: 'Subscriptions',
  task: 'Tasks',
  cron_job: 'Cron jobs',
}

export const actionGroups = optionsOf(labels)

/** Returns the actions of a group, for the query of the API. An unknown group has none. */
export function actionsOf(group: string): AuditAction[] {
  return auditActions.filter(action => action.startsWith(`${group}.`))
}
