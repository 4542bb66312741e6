import type { Operation } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import * as mailLinks from './account/mail-links.ts'
import * as me from './account/me.ts'
import * as registration from './account/registration.ts'
import * as sessions from './account/sessions.ts'
import * as apiKeys from './api-keys/api-keys.ts'
import * as auditStream from './audit/audit-stream.ts'
import * as listAuditLog from './audit/list-audit-log.ts'
import * as tier from './billing/tier.ts'
import * as bulkOperations from './bulk-operations/bulk-operations.ts'
import * as connections from './connections/connections.ts'
import * as readCronJobs from './cron-jobs/read-cron-jobs.ts'
import * as writeCronJobs from './cron-jobs/write-cron-jobs.ts'
import type { Endpoint, Methods } from './endpoint.ts'
import * as login from './factors/login.ts'
import * as manageFactors from './factors/manage-factors.ts'
import * as federatedCredentials from './federation/federated-credentials.ts'
import * as hosts from './hosts/hosts.ts'
import * as integrations from './integrations/integrations.ts'
import * as acceptInvitation from './invitations/accept-invitation.ts'
import * as invitations from './invitations/invitations.ts'
import { mcpRoutes } from './mcp-events-2026-07-28/mcp-subscriptions.ts'
import * as signIn from './oidc/sign-in.ts'
import * as documents from './openapi/documents.ts'
import * as tenants from './operators/tenants.ts'
import * as members from './organizations/members.ts'
import * as organizations from './organizations/organizations.ts'
import * as overview from './overview/overview.ts'
import * as queues from './queues/queues.ts'
import * as countRuns from './runs/count-runs.ts'
import * as listRuns from './runs/list-runs.ts'
import * as streamRuns from './runs/stream/stream-runs.ts'
import * as search from './search/search.ts'
import * as secrets from './secrets/secrets.ts'
import * as signingSecrets from './secrets/signing-secrets.ts'
import * as getStatus from './status/get-status.ts'
import * as publishEvent from './subscriptions/publish-event.ts'
import * as subscriptions from './subscriptions/subscriptions.ts'
import * as createTask from './tasks/create-task.ts'
import * as moveTask from './tasks/move-task.ts'
import * as readTasks from './tasks/read-tasks.ts'
import * as workspaces from './workspaces/workspaces.ts'

const modules = [
  mailLinks,
  me,
  registration,
  sessions,
  apiKeys,
  auditStream,
  listAuditLog,
  tier,
  bulkOperations,
  connections,
  readCronJobs,
  writeCronJobs,
  login,
  manageFactors,
  federatedCredentials,
  hosts,
  integrations,
  acceptInvitation,
  invitations,
  signIn,
  documents,
  tenants,
  members,
  organizations,
  overview,
  queues,
  countRuns,
  listRuns,
  streamRuns,
  search,
  secrets,
  signingSecrets,
  getStatus,
  publishEvent,
  subscriptions,
  createTask,
  moveTask,
  readTasks,
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

export const routes: Routes = {}
for (const [name, { method, path }] of Object.entries<Operation>(operations)) {
  const methods = routes[path] ?? {}
  methods[method.toLowerCase() as keyof Methods] = endpoints[name as keyof typeof operations]
  routes[path] = methods
}

/** Further paths of endpoints. The reference does not list them. */
export const aliases: Routes = { '/api/v1/events': { post: endpoints.publishEvent }, ...mcpRoutes }
