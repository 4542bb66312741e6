export type { FieldError } from '@belfry/domain'
export { idField, millisecondsField, timestampField } from './answer-fields.ts'
export { type ApiKey, apiKey, type CreateApiKeyBody, createApiKeyBody, type NewApiKey, newApiKey } from './api-key.ts'
export {
  type LoginBody,
  loginBody,
  type RegisterBody,
  registerBody,
  type SignedIn,
  signedIn,
  type User,
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
export { exportOrganizationRunsQuery, exportRunsQuery, exportTasksQuery } from './export.ts'
export { type ParsedInput, parseInput } from './field-errors.ts'
export {
  type CreateOrganizationBody,
  createOrganizationBody,
  type Organization,
  type OrganizationPolicy,
  organization,
  organizationPolicy,
} from './organization.ts'
export { decodeCursor, encodeCursor, type Page, pageOf } from './page.ts'
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
export { type TaskSource, taskSources } from './task-source.ts'
export { exampleId, idPattern } from './text-rules.ts'
export { type CreateWorkspaceBody, createWorkspaceBody, type Workspace, workspace } from './workspace.ts'
