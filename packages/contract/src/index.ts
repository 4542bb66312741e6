export type { FieldError } from '@belfry/domain'
export { type ApiKey, type CreateApiKeyBody, createApiKeyBody, type NewApiKey } from './api-key.ts'
export { type LoginBody, loginBody, type RegisterBody, registerBody, type SignedIn, type User } from './auth.ts'
export {
  type CreateCronJobBody,
  type CronJob,
  type CronJobStatus,
  type CronPreview,
  createCronJobBody,
  cronJobStatuses,
  type ListCronJobsQuery,
  listCronJobsQuery,
  type PreviewCronJobBody,
  previewCronJobBody,
  type RunTimeNote,
  type RunTimes,
  type UpdateCronJobBody,
  updateCronJobBody,
} from './cron-job.ts'
export { type ParsedInput, parseInput } from './field-errors.ts'
export {
  type CreateOrganizationBody,
  createOrganizationBody,
  type Organization,
  type OrganizationPolicy,
} from './organization.ts'
export { decodeCursor, encodeCursor, type Page } from './page.ts'
export { type Problem, type ProblemKind, problems } from './problem.ts'
export {
  type ListRunsQuery,
  listRunsQuery,
  type Run,
  type RunDetail,
  type RunErrorCode,
  type RunStatus,
  runErrorCodes,
  runStatuses,
  type StatusRange,
} from './run.ts'
export {
  type CreateTaskBody,
  createTaskBody,
  type LastRun,
  type ListDeadLettersQuery,
  type ListTasksQuery,
  listDeadLettersQuery,
  listTasksQuery,
  type Method,
  methods,
  type Task,
  type UpdateTaskBody,
  updateTaskBody,
} from './task.ts'
export { type TaskSource, taskSources } from './task-source.ts'
export { type CreateWorkspaceBody, createWorkspaceBody, type Workspace } from './workspace.ts'
