import { createApiKey } from './api-keys/create-api-key.ts'
import { login } from './auth/login.ts'
import { register } from './auth/register.ts'
import { listDeadLetters } from './dead-letters/list-dead-letters.ts'
import type { Endpoint } from './http/endpoint.ts'
import { createOrganization } from './organizations/create-organization.ts'
import { getRun } from './runs/get-run.ts'
import { listRuns } from './runs/list-runs.ts'
import { cancelTask } from './tasks/cancel-task.ts'
import { createTask } from './tasks/create-task.ts'
import { getTask } from './tasks/get-task.ts'
import { listTasks } from './tasks/list-tasks.ts'
import { updateTask } from './tasks/update-task.ts'
import { createWorkspace } from './workspaces/create-workspace.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The whole HTTP interface. */
export const routes: Record<string, Partial<Record<Method, Endpoint>>> = {
  '/api/v1/scheduler/tasks': { get: listTasks, post: createTask },
  '/api/v1/scheduler/tasks/:task': { get: getTask, patch: updateTask, delete: cancelTask },
  '/api/v1/scheduler/dead-letters': { get: listDeadLetters },
  '/api/v1/scheduler/runs': { get: listRuns },
  '/api/v1/scheduler/runs/:run': { get: getRun },
  '/api/v1/auth/register': { post: register },
  '/api/v1/auth/login': { post: login },
  '/api/v1/organizations': { post: createOrganization },
  '/api/v1/organizations/:org/workspaces': { post: createWorkspace },
  '/api/v1/workspaces/:ws/api-keys': { post: createApiKey },
}
