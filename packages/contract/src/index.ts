export type { FieldError } from '@belfry/domain'
export { type AccountExport, accountExport } from './account-export.ts'
export {
  type ApiKey,
  apiKey,
  type CreateApiKeyBody,
  createApiKeyBody,
  type NewApiKey,
  newApiKey,
  type RollApiKeyBody,
  rollApiKeyBody,
} from './api-key.ts'
export {
  type AccountEntry,
  type AuditEntry,
  accountEntry,
  exportAuditLogQuery,
  type ListedAuditEntry,
  listAuditLogQuery,
  listedAuditEntry,
} from './audit-entry.ts'
export { type AuditStream, auditStream, putAuditStreamBody } from './audit-stream.ts'
export {
  confirmEmailBody,
  deleteMeBody,
  forgotPasswordBody,
  loginBody,
  type Me,
  me,
  type RegisterBody,
  type RegistrationRules,
  type ResetPasswordBody,
  registerBody,
  registrationRules,
  resetPasswordBody,
  type Session,
  type SignedIn,
  session,
  signedIn,
  type UpdateMeBody,
  type User,
  updateMeBody,
} from './auth.ts'
export { type Callback, type CallbackEvent, callbackEvents } from './callback.ts'
export {
  type Connection,
  type ConnectionTest,
  connection,
  connectionNamePattern,
  connectionTest,
  type PutConnectionBody,
  putConnectionBody,
  testConnectionBody,
} from './connection.ts'
export {
  type CronJob,
  type CronJobStatus,
  type CronPreview,
  createCronJobBody,
  cronJob,
  cronPreview,
  type ListCronJobsQuery,
  listCronJobsQuery,
  previewCronJobBody,
  type RunTimeNote,
  type RunTimes,
  type UpdateCronJobBody,
  updateCronJobBody,
} from './cron-job.ts'
export {
  type DeadLetterOperation,
  deadLetterOperation,
  discardedDeadLetters,
  replayDeadLettersBody,
  replayedDeadLetters,
  type SettleDeadLettersBody,
  settleDeadLettersBody,
} from './dead-letter.ts'
export { type PublishEventBody, type PublishedEvent, publishEventBody, publishedEvent } from './event.ts'
export { fieldErrors, runErrors } from './explained-codes.ts'
export { exportOrganizationRunsQuery, exportRunsQuery, exportTasksQuery } from './export.ts'
export {
  createFederatedCredentialBody,
  exchangeTokenBody,
  type FederatedCredential,
  federatedCredential,
} from './federated-credential.ts'
export { parseInput } from './field-errors.ts'
export { type Host, type Hosts, hosts, resetHost } from './host.ts'
export {
  type CreateIntegrationBody,
  confirmAlertsBody,
  createIntegrationBody,
  type Integration,
  type IntegrationTest,
  integration,
  integrationTest,
  type UpdateIntegrationBody,
  unsubscribeQuery,
  updateIntegrationBody,
} from './integration.ts'
export {
  type AcceptedInvitation,
  type AcceptInvitationBody,
  acceptedInvitation,
  acceptInvitationBody,
  acceptInvitationWithTokenBody,
  type CreateInvitationBody,
  createInvitationBody,
  type Invitation,
  type InvitationPreview,
  invitation,
  invitationPreview,
  invitationTokenBody,
} from './invitation.ts'
export {
  type Member,
  member,
  putWorkspaceMemberBody,
  updateMemberBody,
  type WorkspaceMember,
  workspaceMember,
} from './member.ts'
export {
  type BlockedAddress,
  blockAddressBody,
  blockedAddress,
  type FoundTargets,
  findTargetsQuery,
  foundTargets,
  listBlockedAddressesQuery,
  listTenantsQuery,
  type OperatorEntry,
  operatorEntry,
  suspensionBody,
  type Tenant,
  type TenantDetail,
  tenant,
  tenantDetail,
  unblockAddressBody,
} from './operator.ts'
export {
  createOrganizationBody,
  type Organization,
  type OrganizationPolicy,
  type OrganizationSummary,
  organization,
  organizationDetail,
  organizationSummary,
  transferOrganizationBody,
  type UpdateOrganizationBody,
  updateOrganizationBody,
} from './organization.ts'
export {
  type Overview,
  type OverviewRange,
  overview,
  overviewQuery,
  type RecentRuns,
  recentRuns,
  recentRunsQuery,
  type Upcoming,
  upcoming,
} from './overview.ts'
export { decodeCursor, encodeCursor, listQuery, type Page, pageOf } from './page.ts'
export { type Problem, problem, problemPage, problems } from './problem.ts'
export {
  listQueuesQuery,
  putQueueBody,
  type Queue,
  type QueueField,
  queue,
  queueNamePattern,
  type UpdateQueueBody,
  updateQueueBody,
} from './queue.ts'
export {
  type ListRunsQuery,
  listOrganizationRunsQuery,
  listRunsQuery,
  type Run,
  type RunDetail,
  type RunErrorCode,
  type RunPage,
  runDetail,
  runPage,
} from './run.ts'
export { type RunCounts, runCounts, runCountsQuery } from './run-counts.ts'
export { type RunFailures, runFailures, runFailuresQuery } from './run-failures.ts'
export { type Found, type SearchResult, searchQuery, searchResult } from './search.ts'
export {
  type AddedFactor,
  addedFactor,
  type ConfirmIdentityBody,
  type CreatePasskeyBody,
  confirmIdentityBody,
  confirmTotpBody,
  createPasskeyBody,
  type FactorKind,
  loginFactorBody,
  newPasskey,
  type Passkey,
  type PasskeyAssertion,
  type PasskeyOptions,
  passkeyLoginBody,
  passkeyLoginOptionsBody,
  passkeyOptions,
  recoveryCodes,
  type SecondFactors,
  secondFactors,
  type TotpSecret,
  totpSecret,
} from './second-factor.ts'
export {
  putSecretBody,
  type Secret,
  type SigningKey,
  type SigningSecret,
  type SubscriptionSecret,
  secret,
  secretName,
  signingKey,
  signingSecret,
  subscriptionSecret,
} from './secret.ts'
export {
  type OidcLogout,
  type OidcStart,
  oidcLogout,
  oidcStart,
  type SignInError,
  type SignInMethods,
  signInMethods,
  startOidcBody,
} from './sign-in.ts'
export { type Status, status } from './status.ts'
export {
  type CreateSubscriptionBody,
  createSubscriptionBody,
  listSubscriptionsQuery,
  type Subscription,
  subscription,
  updateSubscriptionBody,
} from './subscription.ts'
export {
  type CreateTaskBody,
  createTaskBody,
  type ListTasksQuery,
  listDeadLettersQuery,
  listTasksQuery,
  type Task,
  task,
  type UpdateTaskBody,
  updateTaskBody,
} from './task.ts'
export { type BatchRow, batchAnswer, createTasksBody } from './task-batch.ts'
export { label } from './task-controls.ts'
export {
  cancelledTasks,
  countTasksQuery,
  type EndTasksBody,
  endTasksBody,
  stoppedTasks,
  type TaskCount,
  type TaskOperation,
  taskCount,
  taskOperation,
} from './task-operation.ts'
export { exampleId, fillExampleTimes, idPattern } from './text-rules.ts'
export {
  type BillingPortal,
  billingPortal,
  changeTierBody,
  type OrganizationSubscription,
  organizationSubscription,
} from './tier.ts'
export { type Usage, usage } from './usage.ts'
export {
  createWorkspaceBody,
  updateWorkspaceBody,
  type Workspace,
  workspace,
} from './workspace.ts'
