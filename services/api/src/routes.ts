import { confirmEmail, resendConfirmation } from './account/email-confirmation.ts'
import { listAccountLog } from './account/list-account-log.ts'
import { exportMe, getMe, updateMe } from './account/me.ts'
import { forgotPassword, resetPassword } from './account/password-reset.ts'
import { getRegistration, register } from './account/registration.ts'
import { endOtherSessions, endSession, listSessions, logout } from './account/sessions.ts'
import { createApiKey, listApiKeys, revokeApiKey, rollApiKey } from './api-keys/api-keys.ts'
import { deleteAuditStream, getAuditStream, putAuditStream, rotateAuditStreamSecret } from './audit/audit-stream.ts'
import { exportAuditLog, listAuditLog } from './audit/list-audit-log.ts'
import { changeTier, getTier, openPortal } from './billing/tier.ts'
import * as bulkOperations from './bulk-operations/operations.ts'
import * as connections from './connections/connections.ts'
import { getIdentityDiscovery, getIdentityKeys } from './connections/identity-documents.ts'
import { deleteCronJob, pauseCronJob, resumeCronJob, triggerCronJob } from './cron-jobs/move-cron-job.ts'
import { getCronJob, listCronJobs, listRecentRuns, previewCronJob } from './cron-jobs/read-cron-jobs.ts'
import { createCronJob, updateCronJob } from './cron-jobs/write-cron-jobs.ts'
import { discardDeadLetters, listDeadLetters, replayDeadLetters } from './dead-letters/settle-dead-letters.ts'
import type { Methods } from './endpoint.ts'
import { confirmIdentity, confirmIdentityOptions } from './factors/confirm-identity.ts'
import { login, loginWithFactor, loginWithPasskey, passkeyLoginOptions } from './factors/login.ts'
import * as factors from './factors/manage-factors.ts'
import { exchangeToken } from './federation/exchange-token.ts'
import * as federatedCredentials from './federation/federated-credentials.ts'
import { listHosts, resetCircuit } from './hosts/hosts.ts'
import { confirmAlerts, unsubscribe } from './integrations/alert-consent.ts'
import * as integrations from './integrations/integrations.ts'
import * as invitationLinks from './invitations/accept-invitation.ts'
import { createInvitation, listInvitations, resendInvitation, revokeInvitation } from './invitations/invitations.ts'
import { finishOidc } from './oidc/finish-oidc.ts'
import { logoutOidc } from './oidc/logout-oidc.ts'
import { getSignInMethods } from './oidc/sign-in-methods.ts'
import { startOidc } from './oidc/start-oidc.ts'
import { getOpenApi, getReference } from './openapi/get-openapi.ts'
import { getProblem } from './openapi/get-problem.ts'
import { blockAddress, listBlockedAddresses, unblockAddress } from './operators/blocked-addresses.ts'
import * as tenants from './operators/tenants.ts'
import { deleteMe } from './organizations/delete-me.ts'
import { getUsage } from './organizations/get-usage.ts'
import { listMembers, removeMember, updateMember } from './organizations/members.ts'
import * as organizations from './organizations/organizations.ts'
import { getOverview } from './overview/get-overview.ts'
import { getUpcoming } from './overview/get-upcoming.ts'
import { deleteQueue, getQueue, listQueues, pauseQueue, putQueue, resumeQueue, updateQueue } from './queues/queues.ts'
import { countRunsOverTime, listFailures } from './runs/count-runs.ts'
import { exportOrganizationRuns, exportRuns } from './runs/export-runs.ts'
import { getRun, listOrganizationRuns, listRuns } from './runs/list-runs.ts'
import { streamOrganizationRuns, streamRuns } from './runs/stream/stream-runs.ts'
import { search } from './search/search.ts'
import { deleteSecret, listSecrets, putSecret } from './secrets/secrets.ts'
import * as signingSecrets from './secrets/signing-secrets.ts'
import * as subscriptionSecrets from './secrets/subscription-secrets.ts'
import { getStatus } from './status/get-status.ts'
import { publishEvent } from './subscriptions/publish-event.ts'
import * as subscriptions from './subscriptions/subscriptions.ts'
import { createTask, createTasks } from './tasks/create-task.ts'
import { cancelTasks, countTasks, stopTasks } from './tasks/end-tasks.ts'
import { cancelTask, replayTask, stopTask, updateTask } from './tasks/move-task.ts'
import { exportTasks, getTask, listTasks } from './tasks/read-tasks.ts'
import { listWorkspaceMembers, putWorkspaceMember, removeWorkspaceMember } from './workspaces/workspace-members.ts'
import * as workspaces from './workspaces/workspaces.ts'

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
  '/api/v1/scheduler/tasks/operations/:operation': {
    get: bulkOperations.getTaskOperation,
    delete: bulkOperations.endTaskOperation,
  },
  '/api/v1/scheduler/tasks/export': { get: exportTasks },
  '/api/v1/scheduler/tasks/:task': { get: getTask, patch: updateTask, delete: cancelTask },
  '/api/v1/scheduler/tasks/:task/stop': { post: stopTask },
  '/api/v1/scheduler/tasks/:task/replay': { post: replayTask },
  '/api/v1/scheduler/dead-letters': { get: listDeadLetters },
  '/api/v1/scheduler/dead-letters/replay': { post: replayDeadLetters },
  '/api/v1/scheduler/dead-letters/discard': { post: discardDeadLetters },
  '/api/v1/scheduler/dead-letters/operations/:operation': {
    get: bulkOperations.getDeadLetterOperation,
    delete: bulkOperations.cancelDeadLetterOperation,
  },
  '/api/v1/scheduler/bulk-operations': {
    get: bulkOperations.listBulkOperations,
    post: bulkOperations.startBulkOperation,
  },
  '/api/v1/scheduler/bulk-operations/:operation': { get: bulkOperations.getBulkOperation },
  '/api/v1/scheduler/bulk-operations/:operation/cancel': { post: bulkOperations.cancelOperation },
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
  '/api/v1/scheduler/subscriptions': { get: subscriptions.listSubscriptions, post: subscriptions.createSubscription },
  '/api/v1/scheduler/subscriptions/:sub': {
    get: subscriptions.getSubscription,
    patch: subscriptions.updateSubscription,
    delete: subscriptions.deleteSubscription,
  },
  '/api/v1/scheduler/subscriptions/:sub/signing-secrets': {
    get: subscriptionSecrets.listSubscriptionSecrets,
    post: subscriptionSecrets.rotateSubscriptionSecret,
    delete: subscriptionSecrets.removeSubscriptionSecrets,
  },
  '/api/v1/scheduler/subscriptions/:sub/signing-secrets/:secret': {
    delete: subscriptionSecrets.revokeSubscriptionSecret,
  },
  '/api/events': { post: publishEvent },
  '/api/v1/auth/register': { get: getRegistration, post: register },
  '/api/v1/auth/login': { post: login },
  '/api/v1/auth/login/factor': { post: loginWithFactor },
  '/api/v1/auth/login/passkey': { post: loginWithPasskey },
  '/api/v1/auth/login/passkey/options': { post: passkeyLoginOptions },
  '/api/v1/auth/logout': { post: logout },
  '/api/v1/auth/confirm': { post: confirmIdentity },
  '/api/v1/auth/confirm/options': { post: confirmIdentityOptions },
  '/api/v1/auth/factors': { get: factors.listFactors },
  '/api/v1/auth/factors/passkeys': { post: factors.addPasskey },
  '/api/v1/auth/factors/passkeys/options': { post: factors.passkeyEnrolmentOptions },
  '/api/v1/auth/factors/passkeys/:passkey': { delete: factors.removePasskey },
  '/api/v1/auth/factors/totp': { post: factors.startTotp, delete: factors.removeTotp },
  '/api/v1/auth/factors/totp/confirm': { post: factors.confirmTotp },
  '/api/v1/auth/factors/recovery-codes': { post: factors.createRecoveryCodes },
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
  '/api/v1/organizations': { get: organizations.listOrganizations, post: organizations.createOrganization },
  '/api/v1/organizations/:org': {
    get: organizations.getOrganization,
    patch: organizations.updateOrganization,
    delete: organizations.deleteOrganization,
  },
  '/api/v1/organizations/:org/members': { get: listMembers },
  '/api/v1/organizations/:org/members/:user': { patch: updateMember, delete: removeMember },
  '/api/v1/organizations/:org/transfer': { post: organizations.transferOrganization },
  '/api/v1/organizations/:org/invitations': { get: listInvitations, post: createInvitation },
  '/api/v1/organizations/:org/invitations/:inv': { delete: revokeInvitation },
  '/api/v1/organizations/:org/invitations/:inv/resend': { post: resendInvitation },
  '/api/v1/invitations/preview': { post: invitationLinks.previewInvitation },
  '/api/v1/invitations/accept': { post: invitationLinks.acceptInvitation },
  '/api/v1/invitations/:token': { get: invitationLinks.getInvitation },
  '/api/v1/invitations/:token/accept': { post: invitationLinks.acceptInvitationOfPath },
  '/api/v1/organizations/:org/audit-log': { get: listAuditLog },
  '/api/v1/organizations/:org/audit-log/export': { get: exportAuditLog },
  '/api/v1/organizations/:org/audit-stream': {
    get: getAuditStream,
    put: putAuditStream,
    delete: deleteAuditStream,
  },
  '/api/v1/organizations/:org/audit-stream/rotate': { post: rotateAuditStreamSecret },
  '/api/v1/organizations/:org/workspaces': { get: workspaces.listWorkspaces, post: workspaces.createWorkspace },
  '/api/v1/workspaces/:ws': {
    get: workspaces.getWorkspace,
    patch: workspaces.updateWorkspace,
    delete: workspaces.deleteWorkspace,
  },
  '/api/v1/workspaces/:ws/members': { get: listWorkspaceMembers },
  '/api/v1/workspaces/:ws/members/:user': { put: putWorkspaceMember, delete: removeWorkspaceMember },
  '/api/v1/workspaces/:ws/api-keys': { get: listApiKeys, post: createApiKey },
  '/api/v1/workspaces/:ws/api-keys/:key': { delete: revokeApiKey },
  '/api/v1/workspaces/:ws/api-keys/:key/roll': { post: rollApiKey },
  '/api/v1/workspaces/:ws/federated-credentials': {
    get: federatedCredentials.listFederatedCredentials,
    post: federatedCredentials.createFederatedCredential,
  },
  '/api/v1/workspaces/:ws/federated-credentials/:fed': {
    get: federatedCredentials.getFederatedCredential,
    delete: federatedCredentials.deleteFederatedCredential,
  },
  '/api/v1/workspaces/:ws/secrets': { get: listSecrets },
  '/api/v1/workspaces/:ws/secrets/:name': { put: putSecret, delete: deleteSecret },
  '/api/v1/workspaces/:ws/connections': { get: connections.listConnections },
  '/api/v1/workspaces/:ws/connections/:connection': {
    get: connections.getConnection,
    put: connections.putConnection,
    delete: connections.deleteConnection,
  },
  '/api/v1/workspaces/:ws/connections/:connection/test': { post: connections.testConnection },
  '/api/v1/workspaces/:ws/signing-keys': { get: signingSecrets.listSigningKeys },
  '/api/v1/workspaces/:ws/signing-secrets': {
    get: signingSecrets.listSigningSecrets,
    post: signingSecrets.rotateSigningSecret,
  },
  '/api/v1/workspaces/:ws/signing-secrets/:secret': { delete: signingSecrets.revokeSigningSecret },
  '/api/v1/organizations/:org/usage': { get: getUsage },
  '/api/v1/organizations/:org/subscription': { get: getTier, put: changeTier },
  '/api/v1/organizations/:org/subscription/portal': { post: openPortal },
  '/api/v1/organizations/:org/runs': { get: listOrganizationRuns },
  '/api/v1/organizations/:org/runs/export': { get: exportOrganizationRuns },
  '/api/v1/organizations/:org/runs/stream': { get: streamOrganizationRuns },
  '/api/v1/integrations/confirm': { post: confirmAlerts },
  '/api/v1/integrations/unsubscribe': { post: unsubscribe },
  '/api/v1/workspaces/:ws/integrations': { get: integrations.listIntegrations, post: integrations.createIntegration },
  '/api/v1/workspaces/:ws/integrations/:int': {
    get: integrations.getIntegration,
    patch: integrations.updateIntegration,
    delete: integrations.deleteIntegration,
  },
  '/api/v1/workspaces/:ws/integrations/:int/test': { post: integrations.testIntegration },
  '/api/v1/operator/organizations': { get: tenants.listTenants },
  '/api/v1/operator/organizations/:org': { get: tenants.getTenant },
  '/api/v1/operator/organizations/:org/tier': { put: tenants.setTier },
  '/api/v1/operator/organizations/:org/suspend': { post: tenants.suspendOrganization },
  '/api/v1/operator/organizations/:org/resume': { post: tenants.resumeOrganization },
  '/api/v1/operator/workspaces/:ws/suspend': { post: tenants.suspendWorkspace },
  '/api/v1/operator/workspaces/:ws/resume': { post: tenants.resumeWorkspace },
  '/api/v1/operator/users/:user/suspend': { post: tenants.suspendUser },
  '/api/v1/operator/users/:user/resume': { post: tenants.resumeUser },
  '/api/v1/operator/users/:user/factors/reset': { post: factors.resetFactors },
  '/api/v1/operator/targets': { get: tenants.findTargets },
  '/api/v1/operator/blocked-addresses': { get: listBlockedAddresses, post: blockAddress },
  '/api/v1/operator/blocked-addresses/remove': { post: unblockAddress },
  '/api/v1/operator/log': { get: tenants.listOperatorLog },
  '/.well-known/jwks.json': { get: getIdentityKeys },
  '/.well-known/openid-configuration': { get: getIdentityDiscovery },
  '/api/problems/:code': { get: getProblem },
  '/api/openapi.json': { get: getOpenApi(() => routes) },
  '/api/docs': { get: getReference(() => routes) },
}
