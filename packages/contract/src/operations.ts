import { accountOperations } from './account.ts'
import { apiKeysOperations } from './api-key.ts'
import { auditOperations } from './audit-entry.ts'
import { bulkOperations } from './bulk-operation.ts'
import { connectionsOperations } from './connection.ts'
import { cronJobsOperations } from './cron-job.ts'
import { documentsOperations } from './documents.ts'
import { eventsOperations } from './event.ts'
import { federatedCredentialsOperations } from './federated-credential.ts'
import { integrationsOperations } from './integration.ts'
import { invitationsOperations } from './invitation.ts'
import { operatorOperations } from './operator.ts'
import { organizationsOperations } from './organization.ts'
import { overviewOperations } from './overview.ts'
import { queuesOperations } from './queue.ts'
import { runsOperations } from './run.ts'
import { secondFactorsOperations } from './second-factor.ts'
import { secretsOperations } from './secret.ts'
import { signInOperations } from './sign-in.ts'
import { tasksOperations } from './task-operations.ts'
import { billingOperations } from './tier.ts'
import { workspacesOperations } from './workspace.ts'

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
  ...federatedCredentialsOperations,
  ...secretsOperations,
  ...connectionsOperations,
  ...billingOperations,
  ...integrationsOperations,
  ...operatorOperations,
  ...documentsOperations,
}
