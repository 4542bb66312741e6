export type { FieldError } from '@belfry/domain'
export { idField, millisecondsField, timestampField } from './answer-fields.ts'
export { type ApiKey, apiKey, type CreateApiKeyBody, createApiKeyBody, type NewApiKey, newApiKey } from './api-key.ts'
export { type AuditEntry, auditEntry, type ListAuditLogQuery, listAuditLogQuery } from './audit-entry.ts'
export {
  type ForgotPasswordBody,
  forgotPasswordBody,
  type LoginBody,
  loginBody,
  type Me,
  me,
  type RegisterBody,
  type ResetPasswordBody,
  registerBody,
  resetPasswordBody,
  type SignedIn,
  signedIn,
  type UpdateMeBody,
  type User,
  updateMeBody,
  user,
} from './auth.ts'
export {
  type CreateCronJobBody,
  type CronJob,
  type CronJobStatus,
  type CronPreview,
  createCronJobBody,
  cronJob,
  cronJobStatuses,
  cronPreview,
  type ListCronJobsQuery,
  listCronJobsQuery,
  type PreviewCronJobBody,
  previewCronJobBody,
  type RunTimeNote,
  type RunTimes,
  runTimeNote,
  type UpdateCronJobBody,
  updateCronJobBody,
} from './cron-job.ts'
export {
  type DeadLetterOperation,
  deadLetterOperation,
  discardedDeadLetters,
  replayedDeadLetters,
  type SettleDeadLettersBody,
  settleDeadLettersBody,
} from './dead-letter.ts'
export { type PublishEventBody, type PublishedEvent, publishEventBody, publishedEvent } from './event.ts'
export { exportOrganizationRunsQuery, exportRunsQuery, exportTasksQuery } from './export.ts'
export { type ParsedInput, parseInput } from './field-errors.ts'
export {
  type CreateIntegrationBody,
  createIntegrationBody,
  type Integration,
  type IntegrationTest,
  integration,
  integrationTest,
  type UpdateIntegrationBody,
  updateIntegrationBody,
} from './integration.ts'
export {
  type AcceptedInvitation,
  type AcceptInvitationBody,
  acceptedInvitation,
  acceptInvitationBody,
  type CreateInvitationBody,
  createInvitationBody,
  type Invitation,
  type InvitationPreview,
  invitation,
  invitationPreview,
} from './invitation.ts'
export {
  type Member,
  member,
  type PutWorkspaceMemberBody,
  putWorkspaceMemberBody,
  type UpdateMemberBody,
  updateMemberBody,
  type WorkspaceMember,
  workspaceMember,
} from './member.ts'
export {
  type CreateOrganizationBody,
  createOrganizationBody,
  type Organization,
  type OrganizationDetail,
  type OrganizationPolicy,
  type OrganizationSummary,
  organization,
  organizationDetail,
  organizationPolicy,
  organizationSummary,
  type UpdateOrganizationBody,
  updateOrganizationBody,
} from './organization.ts'
export {
  type Overview,
  type OverviewRange,
  overview,
  overviewQuery,
  overviewRanges,
  type RecentRuns,
  recentRuns,
  recentRunsQuery,
  type Upcoming,
  upcoming,
} from './overview.ts'
export { decodeCursor, encodeCursor, listQuery, type Page, pageOf } from './page.ts'
export { type Problem, type ProblemKind, problem, problemPage, problems } from './problem.ts'
export {
  type ListRunsQuery,
  listOrganizationRunsQuery,
  listRunsQuery,
  type Run,
  type RunDetail,
  type RunErrorCode,
  type RunStatus,
  run,
  runDetail,
  runErrorCodes,
  runStatuses,
  type StatusRange,
} from './run.ts'
export {
  type PutSecretBody,
  putSecretBody,
  type Secret,
  type SigningSecret,
  secret,
  secretName,
  signingSecret,
} from './secret.ts'
export {
  type CreateSubscriptionBody,
  createSubscriptionBody,
  listSubscriptionsQuery,
  type Subscription,
  subscription,
  type UpdateSubscriptionBody,
  updateSubscriptionBody,
} from './subscription.ts'
export {
  type CreateTaskBody,
  createTaskBody,
  type LastRun,
  type ListDeadLettersQuery,
  type ListTasksQuery,
  lastRun,
  listDeadLettersQuery,
  listTasksQuery,
  type Method,
  methods,
  type Task,
  task,
  type UpdateTaskBody,
  updateTaskBody,
} from './task.ts'
export { type BatchRow, batchAnswer, batchRow, type CreateTasksBody, createTasksBody } from './task-batch.ts'
export { type TaskSource, taskSources } from './task-source.ts'
export { exampleId, fillExampleTimes, idPattern } from './text-rules.ts'
export {
  type BillingPortal,
  billingPortal,
  type ChangeTierBody,
  changeTierBody,
  type OrganizationSubscription,
  organizationSubscription,
} from './tier.ts'
export { type Usage, usage } from './usage.ts'
export {
  type CreateWorkspaceBody,
  createWorkspaceBody,
  type UpdateWorkspaceBody,
  updateWorkspaceBody,
  type Workspace,
  workspace,
} from './workspace.ts'
