import { createApiKey } from './api-keys/create-api-key.ts'
import { listApiKeys } from './api-keys/list-api-keys.ts'
import { revokeApiKey } from './api-keys/revoke-api-key.ts'
import { listAuditLog } from './audit/list-audit-log.ts'
import { forgotPassword } from './auth/forgot-password.ts'
import { getMe } from './auth/get-me.ts'
import { login } from './auth/login.ts'
import { logout } from './auth/logout.ts'
import { register } from './auth/register.ts'
import { resetPassword } from './auth/reset-password.ts'
import { updateMe } from './auth/update-me.ts'
import { changeTier } from './billing/change-tier.ts'
import { getTier } from './billing/get-tier.ts'
import { openPortal } from './billing/open-portal.ts'
import { createCronJob } from './cron-jobs/create-cron-job.ts'
import { deleteCronJob } from './cron-jobs/delete-cron-job.ts'
import { getCronJob } from './cron-jobs/get-cron-job.ts'
import { listCronJobs } from './cron-jobs/list-cron-jobs.ts'
import { listRecentRuns } from './cron-jobs/list-recent-runs.ts'
import { pauseCronJob } from './cron-jobs/pause-cron-job.ts'
import { previewCronJob } from './cron-jobs/preview-cron-job.ts'
import { resumeCronJob } from './cron-jobs/resume-cron-job.ts'
import { triggerCronJob } from './cron-jobs/trigger-cron-job.ts'
import { updateCronJob } from './cron-jobs/update-cron-job.ts'
import { cancelOperation } from './dead-letters/cancel-operation.ts'
import { getOperation } from './dead-letters/get-operation.ts'
import { listDeadLetters } from './dead-letters/list-dead-letters.ts'
import { discardDeadLetters, replayDeadLetters } from './dead-letters/settle-dead-letters.ts'
import { publishEvent } from './events/publish-event.ts'
import type { Endpoint } from './http/endpoint.ts'
import { createIntegration } from './integrations/create-integration.ts'
import { deleteIntegration } from './integrations/delete-integration.ts'
import { getIntegration } from './integrations/get-integration.ts'
import { listIntegrations } from './integrations/list-integrations.ts'
import { testIntegration } from './integrations/test-integration.ts'
import { updateIntegration } from './integrations/update-integration.ts'
import { acceptInvitation } from './invitations/accept-invitation.ts'
import { createInvitation } from './invitations/create-invitation.ts'
import { getInvitation } from './invitations/get-invitation.ts'
import { listInvitations } from './invitations/list-invitations.ts'
import { resendInvitation } from './invitations/resend-invitation.ts'
import { revokeInvitation } from './invitations/revoke-invitation.ts'
import { listMembers } from './members/list-members.ts'
import { removeMember } from './members/remove-member.ts'
import { updateMember } from './members/update-member.ts'
import { getOpenApi } from './openapi/get-openapi.ts'
import { getReference } from './openapi/get-reference.ts'
import { createOrganization } from './organizations/create-organization.ts'
import { deleteOrganization } from './organizations/delete-organization.ts'
import { getOrganization } from './organizations/get-organization.ts'
import { getUsage } from './organizations/get-usage.ts'
import { listOrganizations } from './organizations/list-organizations.ts'
import { updateOrganization } from './organizations/update-organization.ts'
import { getOverview } from './overview/get-overview.ts'
import { getUpcoming } from './overview/get-upcoming.ts'
import { getProblem } from './problems/get-problem.ts'
import { streamOrganizationRuns } from './run-stream/stream-organization-runs.ts'
import { streamRuns } from './run-stream/stream-runs.ts'
import { exportOrganizationRuns } from './runs/export-organization-runs.ts'
import { exportRuns } from './runs/export-runs.ts'
import { getRun } from './runs/get-run.ts'
import { listOrganizationRuns } from './runs/list-organization-runs.ts'
import { listRuns } from './runs/list-runs.ts'
import { deleteSecret } from './secrets/delete-secret.ts'
import { listSecrets } from './secrets/list-secrets.ts'
import { putSecret } from './secrets/put-secret.ts'
import { listSigningSecrets } from './signing-secrets/list-signing-secrets.ts'
import { revokeSigningSecret } from './signing-secrets/revoke-signing-secret.ts'
import { rotateSigningSecret } from './signing-secrets/rotate-signing-secret.ts'
import { createSubscription } from './subscriptions/create-subscription.ts'
import { deleteSubscription } from './subscriptions/delete-subscription.ts'
import { getSubscription } from './subscriptions/get-subscription.ts'
import { listSubscriptions } from './subscriptions/list-subscriptions.ts'
import { updateSubscription } from './subscriptions/update-subscription.ts'
import { cancelTask } from './tasks/cancel-task.ts'
import { createTask } from './tasks/create-task.ts'
import { createTasks } from './tasks/create-tasks.ts'
import { exportTasks } from './tasks/export-tasks.ts'
import { getTask } from './tasks/get-task.ts'
import { listTasks } from './tasks/list-tasks.ts'
import { replayTask } from './tasks/replay-task.ts'
import { updateTask } from './tasks/update-task.ts'
import { listWorkspaceMembers } from './workspace-members/list-workspace-members.ts'
import { putWorkspaceMember } from './workspace-members/put-workspace-member.ts'
import { removeWorkspaceMember } from './workspace-members/remove-workspace-member.ts'
import { createWorkspace } from './workspaces/create-workspace.ts'
import { deleteWorkspace } from './workspaces/delete-workspace.ts'
import { getWorkspace } from './workspaces/get-workspace.ts'
import { listWorkspaces } from './workspaces/list-workspaces.ts'
import { updateWorkspace } from './workspaces/update-workspace.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The endpoints of the whole API. */
export const routes: Record<string, Partial<Record<Method, Endpoint>>> = {
  '/api/v1/scheduler/tasks': { get: listTasks, post: createTask },
  '/api/v1/scheduler/tasks/batch': { post: createTasks },
  '/api/v1/scheduler/tasks/export': { get: exportTasks },
  '/api/v1/scheduler/tasks/:task': { get: getTask, patch: updateTask, delete: cancelTask },
  '/api/v1/scheduler/tasks/:task/replay': { post: replayTask },
  '/api/v1/scheduler/dead-letters': { get: listDeadLetters },
  '/api/v1/scheduler/dead-letters/replay': { post: replayDeadLetters },
  '/api/v1/scheduler/dead-letters/discard': { post: discardDeadLetters },
  '/api/v1/scheduler/dead-letters/operations/:operation': { get: getOperation, delete: cancelOperation },
  '/api/v1/scheduler/cronjobs': { get: listCronJobs, post: createCronJob },
  '/api/v1/scheduler/cronjobs/preview': { post: previewCronJob },
  '/api/v1/scheduler/cronjobs/recent-runs': { get: listRecentRuns },
  '/api/v1/scheduler/cronjobs/:cronjob': { get: getCronJob, patch: updateCronJob, delete: deleteCronJob },
  '/api/v1/scheduler/cronjobs/:cronjob/pause': { post: pauseCronJob },
  '/api/v1/scheduler/cronjobs/:cronjob/resume': { post: resumeCronJob },
  '/api/v1/scheduler/cronjobs/:cronjob/trigger': { post: triggerCronJob },
  '/api/v1/scheduler/runs': { get: listRuns },
  '/api/v1/scheduler/runs/export': { get: exportRuns },
  '/api/v1/scheduler/runs/stream': { get: streamRuns },
  '/api/v1/scheduler/runs/:run': { get: getRun },
  '/api/v1/scheduler/overview': { get: getOverview },
  '/api/v1/scheduler/upcoming': { get: getUpcoming },
  '/api/v1/scheduler/subscriptions': { get: listSubscriptions, post: createSubscription },
  '/api/v1/scheduler/subscriptions/:sub': {
    get: getSubscription,
    patch: updateSubscription,
    delete: deleteSubscription,
  },
  '/api/events': { post: publishEvent },
  '/api/v1/auth/register': { post: register },
  '/api/v1/auth/login': { post: login },
  '/api/v1/auth/logout': { post: logout },
  '/api/v1/auth/password/forgot': { post: forgotPassword },
  '/api/v1/auth/password/reset': { post: resetPassword },
  '/api/v1/auth/me': { get: getMe, patch: updateMe },
  '/api/v1/organizations': { get: listOrganizations, post: createOrganization },
  '/api/v1/organizations/:org': { get: getOrganization, patch: updateOrganization, delete: deleteOrganization },
  '/api/v1/organizations/:org/members': { get: listMembers },
  '/api/v1/organizations/:org/members/:user': { patch: updateMember, delete: removeMember },
  '/api/v1/organizations/:org/invitations': { get: listInvitations, post: createInvitation },
  '/api/v1/organizations/:org/invitations/:inv': { delete: revokeInvitation },
  '/api/v1/organizations/:org/invitations/:inv/resend': { post: resendInvitation },
  '/api/v1/invitations/:token': { get: getInvitation },
  '/api/v1/invitations/:token/accept': { post: acceptInvitation },
  '/api/v1/organizations/:org/audit-log': { get: listAuditLog },
  '/api/v1/organizations/:org/workspaces': { get: listWorkspaces, post: createWorkspace },
  '/api/v1/workspaces/:ws': { get: getWorkspace, patch: updateWorkspace, delete: deleteWorkspace },
  '/api/v1/workspaces/:ws/members': { get: listWorkspaceMembers },
  '/api/v1/workspaces/:ws/members/:user': { put: putWorkspaceMember, delete: removeWorkspaceMember },
  '/api/v1/workspaces/:ws/api-keys': { get: listApiKeys, post: createApiKey },
  '/api/v1/workspaces/:ws/api-keys/:key': { delete: revokeApiKey },
  '/api/v1/workspaces/:ws/secrets': { get: listSecrets },
  '/api/v1/workspaces/:ws/secrets/:name': { put: putSecret, delete: deleteSecret },
  '/api/v1/workspaces/:ws/signing-secrets': { get: listSigningSecrets, post: rotateSigningSecret },
  '/api/v1/workspaces/:ws/signing-secrets/:secret': { delete: revokeSigningSecret },
  '/api/v1/organizations/:org/usage': { get: getUsage },
  '/api/v1/organizations/:org/subscription': { get: getTier, put: changeTier },
  '/api/v1/organizations/:org/subscription/portal': { post: openPortal },
  '/api/v1/organizations/:org/runs': { get: listOrganizationRuns },
  '/api/v1/organizations/:org/runs/export': { get: exportOrganizationRuns },
  '/api/v1/organizations/:org/runs/stream': { get: streamOrganizationRuns },
  '/api/v1/workspaces/:ws/integrations': { get: listIntegrations, post: createIntegration },
  '/api/v1/workspaces/:ws/integrations/:int': {
    get: getIntegration,
    patch: updateIntegration,
    delete: deleteIntegration,
  },
  '/api/v1/workspaces/:ws/integrations/:int/test': { post: testIntegration },
  '/api/problems/:code': { get: getProblem },
  '/api/openapi.json': { get: getOpenApi(() => routes) },
  '/api/docs': { get: getReference(() => routes) },
}
