import { accountOperations } from './operations/account.ts'
import { apiKeysOperations } from './operations/api-keys.ts'
import { auditOperations } from './operations/audit.ts'
import { billingOperations } from './operations/billing.ts'
import { bulkOperations } from './operations/bulk-operations.ts'
import { connectionsOperations } from './operations/connections.ts'
import { cronJobsOperations } from './operations/cron-jobs.ts'
import { documentsOperations } from './operations/documents.ts'
import { eventsOperations } from './operations/events.ts'
import { integrationsOperations } from './operations/integrations.ts'
import { invitationsOperations } from './operations/invitations.ts'
import { operatorOperations } from './operations/operator.ts'
import { organizationsOperations } from './operations/organizations.ts'
import { overviewOperations } from './operations/overview.ts'
import { queuesOperations } from './operations/queues.ts'
import { runsOperations } from './operations/runs.ts'
import { secondFactorsOperations } from './operations/second-factors.ts'
import { secretsOperations } from './operations/secrets.ts'
import { signInOperations } from './operations/sign-in.ts'
import { tasksOperations } from './operations/tasks.ts'
import { workspacesOperations } from './operations/workspaces.ts'

/** All operations of the HTTP API by name, in the order of the reference. Each has one endpoint in the API. */
export const operations = {
  ...tasksOperations,
  ...bulkOperations,
  ...cronJobsOperations,
  ...runsOperations,
  ...overviewOperations,
  ...queuesOperations,
  ...eventsOperations,
  ...accountOperations,
  ...signInOperations,
  ...secondFactorsOperations,
  ...organizationsOperations,
  ...invitationsOperations,
  ...auditOperations,
  ...workspacesOperations,
  ...apiKeysOperations,
  ...secretsOperations,
  ...connectionsOperations,
  ...billingOperations,
  ...integrationsOperations,
  ...operatorOperations,
  ...documentsOperations,
}
