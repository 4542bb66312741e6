import type { Operation } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import * as emailConfirmation from './account/email-confirmation.ts'
import * as listAccountLog from './account/list-account-log.ts'
import * as me from './account/me.ts'
import * as passwordReset from './account/password-reset.ts'
import * as registration from './account/registration.ts'
import * as sessions from './account/sessions.ts'
import * as apiKeys from './api-keys/api-keys.ts'
import * as auditStream from './audit/audit-stream.ts'
import * as listAuditLog from './audit/list-audit-log.ts'
import * as tier from './billing/tier.ts'
import * as bulkOperations from './bulk-operations/operations.ts'
import * as connections from './connections/connections.ts'
import * as moveCronJob from './cron-jobs/move-cron-job.ts'
import * as readCronJobs from './cron-jobs/read-cron-jobs.ts'
import * as writeCronJobs from './cron-jobs/write-cron-jobs.ts'
import * as settleDeadLetters from './dead-letters/settle-dead-letters.ts'
import type { Endpoint, Methods } from './endpoint.ts'
import * as confirmIdentity from './factors/confirm-identity.ts'
import * as login from './factors/login.ts'
import * as manageFactors from './factors/manage-factors.ts'
import * as exchangeToken from './federation/exchange-token.ts'
import * as federatedCredentials from './federation/federated-credentials.ts'
import * as hosts from './hosts/hosts.ts'
import * as alertConsent from './integrations/alert-consent.ts'
import * as integrations from './integrations/integrations.ts'
import * as acceptInvitation from './invitations/accept-invitation.ts'
import * as invitations from './invitations/invitations.ts'
import * as finishOidc from './oidc/finish-oidc.ts'
import * as logoutOidc from './oidc/logout-oidc.ts'
import * as signInMethods from './oidc/sign-in-methods.ts'
import * as startOidc from './oidc/start-oidc.ts'
import * as getOpenapi from './openapi/get-openapi.ts'
import * as getProblem from './openapi/get-problem.ts'
import * as blockedAddresses from './operators/blocked-addresses.ts'
import * as tenants from './operators/tenants.ts'
import * as deleteMe from './organizations/delete-me.ts'
import * as getUsage from './organizations/get-usage.ts'
import * as members from './organizations/members.ts'
import * as organizations from './organizations/organizations.ts'
import * as getOverview from './overview/get-overview.ts'
import * as getUpcoming from './overview/get-upcoming.ts'
import * as queues from './queues/queues.ts'
import * as countRuns from './runs/count-runs.ts'
import * as exportRuns from './runs/export-runs.ts'
import * as listRuns from './runs/list-runs.ts'
import * as streamRuns from './runs/stream/stream-runs.ts'
import * as search from './search/search.ts'
import * as secrets from './secrets/secrets.ts'
import * as signingSecrets from './secrets/signing-secrets.ts'
import * as getStatus from './status/get-status.ts'
import * as publishEvent from './subscriptions/publish-event.ts'
import * as subscriptions from './subscriptions/subscriptions.ts'
import * as createTask from './tasks/create-task.ts'
import * as endTasks from './tasks/end-tasks.ts'
import * as moveTask from './tasks/move-task.ts'
import * as readTasks from './tasks/read-tasks.ts'
import * as workspaceMembers from './workspaces/workspace-members.ts'
import * as workspaces from './workspaces/workspaces.ts'

const modules = [
  emailConfirmation,
  listAccountLog,
  me,
  passwordReset,
  registration,
  sessions,
  apiKeys,
  auditStream,
  listAuditLog,
  tier,
  bulkOperations,
  connections,
  moveCronJob,
  readCronJobs,
  writeCronJobs,
  settleDeadLetters,
  confirmIdentity,
  login,
  manageFactors,
  exchangeToken,
  federatedCredentials,
  hosts,
  alertConsent,
  integrations,
  acceptInvitation,
  invitations,
  finishOidc,
  logoutOidc,
  signInMethods,
  startOidc,
  getOpenapi,
  getProblem,
  blockedAddresses,
  tenants,
  deleteMe,
  getUsage,
  members,
  organizations,
  getOverview,
  getUpcoming,
  queues,
  countRuns,
  exportRuns,
  listRuns,
  streamRuns,
  search,
  secrets,
  signingSecrets,
  getStatus,
  publishEvent,
  subscriptions,
  createTask,
  endTasks,
  moveTask,
  readTasks,
  workspaceMembers,
  workspaces,
]

type All<T> = (T extends unknown ? (one: T) => void : never) extends (one: infer Intersection) => void
  ? Intersection
  : never

/** The endpoint of each operation: both have the same name. */
const endpoints: Record<keyof typeof operations, Endpoint> = Object.assign({}, ...modules) as All<
  (typeof modules)[number]
>

type Routes = Record<string, Methods>

/** The endpoints of the whole API. */
export const routes: Routes = {}
for (const [name, { method, path }] of Object.entries<Operation>(operations)) {
  const methods = routes[path] ?? {}
  methods[method.toLowerCase() as keyof Methods] = endpoints[name as keyof typeof operations]
  routes[path] = methods
}

/** Further paths of endpoints, which the reference does not list. */
export const aliases: Routes = { '/api/v1/events': { post: endpoints.publishEvent } }
