import { createApiKey } from './api-keys/create-api-key.ts'
import { login } from './auth/login.ts'
import { register } from './auth/register.ts'
import { createCronJob } from './cron-jobs/create-cron-job.ts'
import { deleteCronJob } from './cron-jobs/delete-cron-job.ts'
import { getCronJob } from './cron-jobs/get-cron-job.ts'
import { listCronJobs } from './cron-jobs/list-cron-jobs.ts'
import { pauseCronJob } from './cron-jobs/pause-cron-job.ts'
import { previewCronJob } from './cron-jobs/preview-cron-job.ts'
import { resumeCronJob } from './cron-jobs/resume-cron-job.ts'
import { triggerCronJob } from './cron-jobs/trigger-cron-job.ts'
import { updateCronJob } from './cron-jobs/update-cron-job.ts'
import { listDeadLetters } from './dead-letters/list-dead-letters.ts'
import type { Endpoint } from './http/endpoint.ts'
import { getOpenApi } from './openapi/get-openapi.ts'
import { getReference } from './openapi/get-reference.ts'
import { createOrganization } from './organizations/create-organization.ts'
import { getProblem } from './problems/get-problem.ts'
import { streamOrganizationRuns } from './run-stream/stream-organization-runs.ts'
import { streamRuns } from './run-stream/stream-runs.ts'
import { exportOrganizationRuns } from './runs/export-organization-runs.ts'
import { exportRuns } from './runs/export-runs.ts'
import { getRun } from './runs/get-run.ts'
import { listOrganizationRuns } from './runs/list-organization-runs.ts'
import { listRuns } from './runs/list-runs.ts'
import { cancelTask } from './tasks/cancel-task.ts'
import { createTask } from './tasks/create-task.ts'
import { exportTasks } from './tasks/export-tasks.ts'
import { getTask } from './tasks/get-task.ts'
import { listTasks } from './tasks/list-tasks.ts'
import { updateTask } from './tasks/update-task.ts'
import { createWorkspace } from './workspaces/create-workspace.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The whole HTTP interface. */
export const routes: Record<string, Partial<Record<Method, Endpoint>>> = {
  '/api/v1/scheduler/tasks': { get: listTasks, post: createTask },
  '/api/v1/scheduler/tasks/export': { get: exportTasks },
  '/api/v1/scheduler/tasks/:task': { get: getTask, patch: updateTask, delete: cancelTask },
  '/api/v1/scheduler/dead-letters': { get: listDeadLetters },
  '/api/v1/scheduler/cronjobs': { get: listCronJobs, post: createCronJob },
  '/api/v1/scheduler/cronjobs/preview': { post: previewCronJob },
  '/api/v1/scheduler/cronjobs/:cronjob': { get: getCronJob, patch: updateCronJob, delete: deleteCronJob },
  '/api/v1/scheduler/cronjobs/:cronjob/pause': { post: pauseCronJob },
  '/api/v1/scheduler/cronjobs/:cronjob/resume': { post: resumeCronJob },
  '/api/v1/scheduler/cronjobs/:cronjob/trigger': { post: triggerCronJob },
  '/api/v1/scheduler/runs': { get: listRuns },
  '/api/v1/scheduler/runs/export': { get: exportRuns },
  '/api/v1/scheduler/runs/stream': { get: streamRuns },
  '/api/v1/scheduler/runs/:run': { get: getRun },
  '/api/v1/auth/register': { post: register },
  '/api/v1/auth/login': { post: login },
  '/api/v1/organizations': { post: createOrganization },
  '/api/v1/organizations/:org/runs': { get: listOrganizationRuns },
  '/api/v1/organizations/:org/runs/export': { get: exportOrganizationRuns },
  '/api/v1/organizations/:org/runs/stream': { get: streamOrganizationRuns },
  '/api/v1/organizations/:org/workspaces': { post: createWorkspace },
  '/api/v1/workspaces/:ws/api-keys': { post: createApiKey },
  '/api/problems/:code': { get: getProblem },
  '/api/openapi.json': { get: getOpenApi(() => routes) },
  '/api/docs': { get: getReference(() => routes) },
}
