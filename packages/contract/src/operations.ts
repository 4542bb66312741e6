import * as account from './operations/account.ts'
import * as apiKeys from './operations/api-keys.ts'
import * as audit from './operations/audit.ts'
import * as billing from './operations/billing.ts'
import * as bulkOperations from './operations/bulk-operations.ts'
import * as connections from './operations/connections.ts'
import * as cronJobs from './operations/cron-jobs.ts'
import * as documents from './operations/documents.ts'
import * as events from './operations/events.ts'
import * as integrations from './operations/integrations.ts'
import * as invitations from './operations/invitations.ts'
import * as operator from './operations/operator.ts'
import * as organizations from './operations/organizations.ts'
import * as overview from './operations/overview.ts'
import * as queues from './operations/queues.ts'
import * as runs from './operations/runs.ts'
import * as secondFactors from './operations/second-factors.ts'
import * as secrets from './operations/secrets.ts'
import * as signIn from './operations/sign-in.ts'
import * as tasks from './operations/tasks.ts'
import * as workspaces from './operations/workspaces.ts'

/** All operations of the HTTP API by name, in the order of the reference. Each has one endpoint in the API. */
export const operations = {
  ...tasks,
  ...bulkOperations,
  ...cronJobs,
  ...runs,
  ...overview,
  ...queues,
  ...events,
  ...account,
  ...signIn,
  ...secondFactors,
  ...organizations,
  ...invitations,
  ...audit,
  ...workspaces,
  ...apiKeys,
  ...secrets,
  ...connections,
  ...billing,
  ...integrations,
  ...operator,
  ...documents,
}
