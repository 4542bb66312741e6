import type { Action } from './permissions.ts'

/** What the log of an account contains. Published: an action never changes its meaning. */
export const accountActions = [
  'signed_in',
  'sign_in_failed',
  'signed_out',
  'session_ended',
  'password_reset_requested',
  'password_reset',
  'password_changed',
  'factor_added',
  'factor_removed',
  'factors_reset',
  'recovery_code_used',
  'recovery_codes_created',
  'identity_linked',
] as const

export type AccountAction = (typeof accountActions)[number]

const ofAccounts = Object.fromEntries(accountActions.map(action => [`member.${action}`, null])) as Record<
  `member.${AccountAction}`,
  null
>

/**
 * The actions in the audit log, and the right that each needs. Null: a right of the table is not what allows it, such as to
 * accept an invitation. Published: an action never changes its meaning.
 */
export const auditRights = {
  'organization.created': null,
  'organization.changed': 'organization.change',
  'organization.policy_changed': 'organization.change',
  'organization.tier_changed': 'billing.change',
  'organization.deleted': 'organization.delete',
  'audit_stream.created': 'audit_log.stream',
  'audit_stream.changed': 'audit_log.stream',
  'audit_stream.secret_rotated': 'audit_log.stream',
  'audit_stream.deleted': 'audit_log.stream',
  'member.joined': null,
  'member.role_changed': 'member.manage',
  'member.removed': 'member.manage',
  'member.left': 'member.leave',
  ...ofAccounts,
  'invitation.created': 'invitation.create',
  'invitation.resent': 'invitation.create',
  'invitation.revoked': 'invitation.revoke',
  'workspace.created': 'workspace.create',
  'workspace.changed': 'workspace.change',
  'workspace.deleted': 'workspace.delete',
  'workspace_member.added': 'workspace_member.manage',
  'workspace_member.role_changed': 'workspace_member.manage',
  'workspace_member.removed': 'workspace_member.manage',
  'api_key.created': 'api_key.create',
  'api_key.rolled': 'api_key.create',
  'api_key.revoked': 'api_key.revoke',
  'api_key.exchanged': null,
  'federated_credential.created': 'federated_credential.create',
  'federated_credential.deleted': 'federated_credential.delete',
  'secret.created': 'secret.write',
  'secret.changed': 'secret.write',
  'secret.deleted': 'secret.delete',
  'connection.created': 'connection.write',
  'connection.changed': 'connection.write',
  'connection.deleted': 'connection.delete',
  'connection.tested': 'connection.test',
  'signing_secret.rotated': 'signing_secret.rotate',
  'signing_secret.revoked': 'signing_secret.revoke',
  'integration.created': 'integration.write',
  'integration.changed': 'integration.write',
  'integration.deleted': 'integration.delete',
  'subscription.created': 'subscription.write',
  'subscription.changed': 'subscription.write',
  'subscription.deleted': 'subscription.delete',
  'task.changed': 'task.write',
  'task.cancelled': 'task.delete',
  'task.stopped': 'task.delete',
  'task.bulk_cancelled': 'task.delete',
  'task.bulk_stopped': 'task.delete',
  'cron_job.created': 'cron_job.write',
  'cron_job.changed': 'cron_job.write',
  'cron_job.paused': 'cron_job.write',
  'cron_job.resumed': 'cron_job.write',
  'cron_job.deleted': 'cron_job.delete',
  'dead_letter.replayed': 'dead_letter.replay',
  'dead_letter.discarded': 'dead_letter.discard',
  'host.reset': 'host.reset',
  'host.paused': 'host.write',
  'host.resumed': 'host.write',
  'host.failure_changed': 'host.write',
  'queue.changed': 'queue.write',
  'queue.paused': 'queue.write',
  'queue.resumed': 'queue.write',
  'queue.deleted': 'queue.delete',
} as const satisfies Record<string, Action | null>

export type AuditAction = keyof typeof auditRights
export const auditActions = Object.keys(auditRights) as AuditAction[]
