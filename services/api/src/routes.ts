import { confirmEmail } from './account/confirm-email.ts'
import { exportMe } from './account/export-me.ts'
import { forgotPassword } from './account/forgot-password.ts'
import { getMe } from './account/get-me.ts'
import { getRegistration } from './account/get-registration.ts'
import { listAccountLog } from './account/list-account-log.ts'
import { logout } from './account/logout.ts'
import { register } from './account/register.ts'
import { resendConfirmation } from './account/resend-confirmation.ts'
import { resetPassword } from './account/reset-password.ts'
import { endOtherSessions, endSession, listSessions } from './account/sessions.ts'
import { updateMe } from './account/update-me.ts'
import { listApiKeys, revokeApiKey } from './api-keys/api-keys.ts'
import { createApiKey } from './api-keys/create-api-key.ts'
import { rollApiKey } from './api-keys/roll-api-key.ts'
import { deleteAuditStream, getAuditStream, putAuditStream, rotateAuditStreamSecret } from './audit/audit-stream.ts'
import { exportAuditLog, listAuditLog } from './audit/list-audit-log.ts'
import { changeTier } from './billing/change-tier.ts'
import { getTier } from './billing/get-tier.ts'
import { openPortal } from './billing/open-portal.ts'
import {
  cancelDeadLetterOperation,
  cancelOperation,
  endTaskOperation,
  getBulkOperation,
  getDeadLetterOperation,
  getTaskOperation,
  listBulkOperations,
  startBulkOperation,
} from './bulk-operations/operations.ts'
import { deleteConnection, getConnection, listConnections, putConnection } from './connections/connections.ts'
import { getIdentityDiscovery, getIdentityKeys } from './connections/identity-documents.ts'
import { testConnection } from './connections/test-connection.ts'
import { createCronJob } from './cron-jobs/create-cron-job.ts'
import { deleteCronJob, pauseCronJob, resumeCronJob } from './cron-jobs/move-cron-job.ts'
import { previewCronJob } from './cron-jobs/preview-cron-job.ts'
import { getCronJob, listCronJobs, listRecentRuns } from './cron-jobs/read-cron-jobs.ts'
import { triggerCronJob } from './cron-jobs/trigger-cron-job.ts'
import { updateCronJob } from './cron-jobs/update-cron-job.ts'
import { discardDeadLetters, listDeadLetters, replayDeadLetters } from './dead-letters/settle-dead-letters.ts'
import type { Methods } from './endpoint.ts'
import { confirmIdentity, confirmIdentityOptions } from './factors/confirm-identity.ts'
import { login } from './factors/login.ts'
import { loginWithFactor, loginWithPasskey, passkeyLoginOptions } from './factors/login-with-factor.ts'
import {
  addPasskey,
  confirmTotp,
  createRecoveryCodes,
  listFactors,
  passkeyEnrolmentOptions,
  removePasskey,
  removeTotp,
  startTotp,
} from './factors/manage-factors.ts'
import { resetFactors } from './factors/reset-factors.ts'
import { exchangeToken } from './federation/exchange-token.ts'
import {
  createFederatedCredential,
  deleteFederatedCredential,
  getFederatedCredential,
  listFederatedCredentials,
} from './federation/federated-credentials.ts'
import { listHosts, resetCircuit } from './hosts/hosts.ts'
import { confirmAlerts, unsubscribe } from './integrations/alert-consent.ts'
import {
  createIntegration,
  deleteIntegration,
  getIntegration,
  listIntegrations,
  testIntegration,
  updateIntegration,
} from './integrations/integrations.ts'
import { acceptInvitation, acceptInvitationOfPath } from './invitations/accept-invitation.ts'
import { getInvitation, previewInvitation } from './invitations/get-invitation.ts'
import { createInvitation, listInvitations, resendInvitation, revokeInvitation } from './invitations/invitations.ts'
import { finishOidc } from './oidc/finish-oidc.ts'
import { getSignInMethods } from './oidc/get-sign-in-methods.ts'
import { logoutOidc } from './oidc/logout-oidc.ts'
import { startOidc } from './oidc/start-oidc.ts'
import { getOpenApi } from './openapi/get-openapi.ts'
import { getProblem } from './openapi/get-problem.ts'
import { getReference } from './openapi/get-reference.ts'
import { blockAddress, listBlockedAddresses, unblockAddress } from './operators/blocked-addresses.ts'
import {
  findTargets,
  getTenant,
  listOperatorLog,
  listTenants,
  resumeOrganization,
  resumeUser,
  resumeWorkspace,
  setTier,
  suspendOrganization,
  suspendUser,
  suspendWorkspace,
} from './operators/tenants.ts'
import { createOrganization } from './organizations/create-organization.ts'
import { deleteMe } from './organizations/delete-me.ts'
import { getUsage } from './organizations/get-usage.ts'
import { listMembers, removeMember, updateMember } from './organizations/members.ts'
import {
  deleteOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from './organizations/organizations.ts'
import { transferOrganization } from './organizations/transfer-organization.ts'
import { getOverview } from './overview/get-overview.ts'
import { getUpcoming } from './overview/get-upcoming.ts'
import { deleteQueue, getQueue, listQueues, pauseQueue, putQueue, resumeQueue, updateQueue } from './queues/queues.ts'
import { countRunsOverTime } from './runs/count-runs.ts'
import { exportOrganizationRuns, exportRuns } from './runs/export-runs.ts'
import { getRun } from './runs/get-run.ts'
import { listFailures } from './runs/list-failures.ts'
import { listOrganizationRuns, listRuns } from './runs/list-runs.ts'
import { streamOrganizationRuns, streamRuns } from './runs/stream/stream-runs.ts'
import { search } from './search/search.ts'
import { deleteSecret, listSecrets, putSecret } from './secrets/secrets.ts'
import {
  listSigningKeys,
  listSigningSecrets,
  revokeSigningSecret,
  rotateSigningSecret,
} from './secrets/signing-secrets.ts'
import {
  listSubscriptionSecrets,
  removeSubscriptionSecrets,
  revokeSubscriptionSecret,
  rotateSubscriptionSecret,
} from './secrets/subscription-secrets.ts'
import { getStatus } from './status/get-status.ts'
import { publishEvent } from './subscriptions/publish-event.ts'
import {
  createSubscription,
  deleteSubscription,
  getSubscription,
  listSubscriptions,
  updateSubscription,
} from './subscriptions/subscriptions.ts'
import { createTask } from './tasks/create-task.ts'
import { createTasks } from './tasks/create-tasks.ts'
import { cancelTasks, countTasks, stopTasks } from './tasks/end-tasks.ts'
import { cancelTask, replayTask, stopTask, updateTask } from './tasks/move-task.ts'
import { exportTasks, getTask, listTasks } from './tasks/read-tasks.ts'
import { listWorkspaceMembers, putWorkspaceMember, removeWorkspaceMember } from './workspaces/workspace-members.ts'
import {
  createWorkspace,
  deleteWorkspace,
  getWorkspace,
  listWorkspaces,
  updateWorkspace,
} from './workspaces/workspaces.ts'

type Routes = Record<string, Methods>

/** Further paths of endpoints, which the reference does not list. */
export const aliases: Routes = { '/api/v1/events': { post: publishEvent } }

/** The endpoints of the whole API. */
export const routes: Routes = {
  '/api/v1/scheduler/tasks': { get: listTasks, post: createTask },
  '/api/v1/scheduler/tasks/batch': { post: createTasks },
  '/api/v1/scheduler/tasks/count': { get: countTasks },
  '/api/v1/scheduler/tasks/cancel': { post: cancelTasks },
  '/api/v1/scheduler/tasks/stop': { post: stopTasks },
  '/api/v1/scheduler/tasks/operations/:operation': { get: getTaskOperation, delete: endTaskOperation },
  '/api/v1/scheduler/tasks/export': { get: exportTasks },
  '/api/v1/scheduler/tasks/:task': { get: getTask, patch: updateTask, delete: cancelTask },
  '/api/v1/scheduler/tasks/:task/stop': { post: stopTask },
  '/api/v1/scheduler/tasks/:task/replay': { post: replayTask },
  '/api/v1/scheduler/dead-letters': { get: listDeadLetters },
  '/api/v1/scheduler/dead-letters/replay': { post: replayDeadLetters },
  '/api/v1/scheduler/dead-letters/discard': { post: discardDeadLetters },
  '/api/v1/scheduler/dead-letters/operations/:operation': {
    get: getDeadLetterOperation,
    delete: cancelDeadLetterOperation,
  },
  '/api/v1/scheduler/bulk-operations': { get: listBulkOperations, post: startBulkOperation },
  '/api/v1/scheduler/bulk-operations/:operation': { get: getBulkOperation },
  '/api/v1/scheduler/bulk-operations/:operation/cancel': { post: cancelOperation },
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
  '/api/v1/scheduler/runs/failures': { get: listFailures },
  '/api/v1/scheduler/runs/counts': { get: countRunsOverTime },
  '/api/v1/scheduler/runs/:run': { get: getRun },
  '/api/v1/scheduler/search': { get: search },
  '/api/v1/scheduler/overview': { get: getOverview },
  '/api/v1/scheduler/upcoming': { get: getUpcoming },
  '/api/v1/scheduler/hosts': { get: listHosts },
  '/api/v1/scheduler/hosts/:host/reset': { post: resetCircuit },
  '/api/v1/scheduler/queues': { get: listQueues },
  '/api/v1/scheduler/queues/:queue': { get: getQueue, put: putQueue, patch: updateQueue, delete: deleteQueue },
  '/api/v1/scheduler/queues/:queue/pause': { post: pauseQueue },
  '/api/v1/scheduler/queues/:queue/resume': { post: resumeQueue },
  '/api/v1/scheduler/status': { get: getStatus },
  '/api/v1/scheduler/subscriptions': { get: listSubscriptions, post: createSubscription },
  '/api/v1/scheduler/subscriptions/:sub': {
    get: getSubscription,
    patch: updateSubscription,
    delete: deleteSubscription,
  },
  '/api/v1/scheduler/subscriptions/:sub/signing-secrets': {
    get: listSubscriptionSecrets,
    post: rotateSubscriptionSecret,
    delete: removeSubscriptionSecrets,
  },
  '/api/v1/scheduler/subscriptions/:sub/signing-secrets/:secret': { delete: revokeSubscriptionSecret },
  '/api/events': { post: publishEvent },
  '/api/v1/auth/register': { get: getRegistration, post: register },
  '/api/v1/auth/login': { post: login },
  '/api/v1/auth/login/factor': { post: loginWithFactor },
  '/api/v1/auth/login/passkey': { post: loginWithPasskey },
  '/api/v1/auth/login/passkey/options': { post: passkeyLoginOptions },
  '/api/v1/auth/logout': { post: logout },
  '/api/v1/auth/confirm': { post: confirmIdentity },
  '/api/v1/auth/confirm/options': { post: confirmIdentityOptions },
  '/api/v1/auth/factors': { get: listFactors },
  '/api/v1/auth/factors/passkeys': { post: addPasskey },
  '/api/v1/auth/factors/passkeys/options': { post: passkeyEnrolmentOptions },
  '/api/v1/auth/factors/passkeys/:passkey': { delete: removePasskey },
  '/api/v1/auth/factors/totp': { post: startTotp, delete: removeTotp },
  '/api/v1/auth/factors/totp/confirm': { post: confirmTotp },
  '/api/v1/auth/factors/recovery-codes': { post: createRecoveryCodes },
  '/api/v1/auth/methods': { get: getSignInMethods },
  '/api/v1/auth/oidc/start': { post: startOidc },
  '/api/v1/auth/oidc/callback': { get: finishOidc },
  '/api/v1/auth/oidc/logout': { post: logoutOidc },
  '/api/v1/auth/token-exchange': { post: exchangeToken },
  '/api/v1/auth/password/forgot': { post: forgotPassword },
  '/api/v1/auth/password/reset': { post: resetPassword },
  '/api/v1/auth/email/confirm': { post: confirmEmail },
  '/api/v1/auth/email/resend': { post: resendConfirmation },
  '/api/v1/auth/log': { get: listAccountLog },
  '/api/v1/auth/sessions': { get: listSessions, delete: endOtherSessions },
  '/api/v1/auth/sessions/:session': { delete: endSession },
  '/api/v1/auth/me': { get: getMe, patch: updateMe },
  '/api/v1/auth/me/export': { get: exportMe },
  '/api/v1/auth/me/delete': { post: deleteMe },
  '/api/v1/organizations': { get: listOrganizations, post: createOrganization },
  '/api/v1/organizations/:org': { get: getOrganization, patch: updateOrganization, delete: deleteOrganization },
  '/api/v1/organizations/:org/members': { get: listMembers },
  '/api/v1/organizations/:org/members/:user': { patch: updateMember, delete: removeMember },
  '/api/v1/organizations/:org/transfer': { post: transferOrganization },
  '/api/v1/organizations/:org/invitations': { get: listInvitations, post: createInvitation },
  '/api/v1/organizations/:org/invitations/:inv': { delete: revokeInvitation },
  '/api/v1/organizations/:org/invitations/:inv/resend': { post: resendInvitation },
  '/api/v1/invitations/preview': { post: previewInvitation },
  '/api/v1/invitations/accept': { post: acceptInvitation },
  '/api/v1/invitations/:token': { get: getInvitation },
  '/api/v1/invitations/:token/accept': { post: acceptInvitationOfPath },
  '/api/v1/organizations/:org/audit-log': { get: listAuditLog },
  '/api/v1/organizations/:org/audit-log/export': { get: exportAuditLog },
  '/api/v1/organizations/:org/audit-stream': {
    get: getAuditStream,
    put: putAuditStream,
    delete: deleteAuditStream,
  },
  '/api/v1/organizations/:org/audit-stream/rotate': { post: rotateAuditStreamSecret },
  '/api/v1/organizations/:org/workspaces': { get: listWorkspaces, post: createWorkspace },
  '/api/v1/workspaces/:ws': { get: getWorkspace, patch: updateWorkspace, delete: deleteWorkspace },
  '/api/v1/workspaces/:ws/members': { get: listWorkspaceMembers },
  '/api/v1/workspaces/:ws/members/:user': { put: putWorkspaceMember, delete: removeWorkspaceMember },
  '/api/v1/workspaces/:ws/api-keys': { get: listApiKeys, post: createApiKey },
  '/api/v1/workspaces/:ws/api-keys/:key': { delete: revokeApiKey },
  '/api/v1/workspaces/:ws/api-keys/:key/roll': { post: rollApiKey },
  '/api/v1/workspaces/:ws/federated-credentials': { get: listFederatedCredentials, post: createFederatedCredential },
  '/api/v1/workspaces/:ws/federated-credentials/:fed': {
    get: getFederatedCredential,
    delete: deleteFederatedCredential,
  },
  '/api/v1/workspaces/:ws/secrets': { get: listSecrets },
  '/api/v1/workspaces/:ws/secrets/:name': { put: putSecret, delete: deleteSecret },
  '/api/v1/workspaces/:ws/connections': { get: listConnections },
  '/api/v1/workspaces/:ws/connections/:connection': {
    get: getConnection,
    put: putConnection,
    delete: deleteConnection,
  },
  '/api/v1/workspaces/:ws/connections/:connection/test': { post: testConnection },
  '/api/v1/workspaces/:ws/signing-keys': { get: listSigningKeys },
  '/api/v1/workspaces/:ws/signing-secrets': { get: listSigningSecrets, post: rotateSigningSecret },
  '/api/v1/workspaces/:ws/signing-secrets/:secret': { delete: revokeSigningSecret },
  '/api/v1/organizations/:org/usage': { get: getUsage },
  '/api/v1/organizations/:org/subscription': { get: getTier, put: changeTier },
  '/api/v1/organizations/:org/subscription/portal': { post: openPortal },
  '/api/v1/organizations/:org/runs': { get: listOrganizationRuns },
  '/api/v1/organizations/:org/runs/export': { get: exportOrganizationRuns },
  '/api/v1/organizations/:org/runs/stream': { get: streamOrganizationRuns },
  '/api/v1/integrations/confirm': { post: confirmAlerts },
  '/api/v1/integrations/unsubscribe': { post: unsubscribe },
  '/api/v1/workspaces/:ws/integrations': { get: listIntegrations, post: createIntegration },
  '/api/v1/workspaces/:ws/integrations/:int': {
    get: getIntegration,
    patch: updateIntegration,
    delete: deleteIntegration,
  },
  '/api/v1/workspaces/:ws/integrations/:int/test': { post: testIntegration },
  '/api/v1/operator/organizations': { get: listTenants },
  '/api/v1/operator/organizations/:org': { get: getTenant },
  '/api/v1/operator/organizations/:org/tier': { put: setTier },
  '/api/v1/operator/organizations/:org/suspend': { post: suspendOrganization },
  '/api/v1/operator/organizations/:org/resume': { post: resumeOrganization },
  '/api/v1/operator/workspaces/:ws/suspend': { post: suspendWorkspace },
  '/api/v1/operator/workspaces/:ws/resume': { post: resumeWorkspace },
  '/api/v1/operator/users/:user/suspend': { post: suspendUser },
  '/api/v1/operator/users/:user/resume': { post: resumeUser },
  '/api/v1/operator/users/:user/factors/reset': { post: resetFactors },
  '/api/v1/operator/targets': { get: findTargets },
  '/api/v1/operator/blocked-addresses': { get: listBlockedAddresses, post: blockAddress },
  '/api/v1/operator/blocked-addresses/remove': { post: unblockAddress },
  '/api/v1/operator/log': { get: listOperatorLog },
  '/.well-known/jwks.json': { get: getIdentityKeys },
  '/.well-known/openid-configuration': { get: getIdentityDiscovery },
  '/api/problems/:code': { get: getProblem },
  '/api/openapi.json': { get: getOpenApi(() => routes) },
  '/api/docs': { get: getReference(() => routes) },
}
