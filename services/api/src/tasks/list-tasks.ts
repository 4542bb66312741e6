import { listTasksQuery, pageOf, task } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { findTasks } from './find-tasks.ts'

export const listTasks = endpoint({
  right: 'task.read',
  summary: 'List tasks, newest first',
  answer: { status: 200, body: pageOf(task) },
  query: listTasksQuery,
  async handle(ctx, { caller, query }) {
    return ok(await findTasks(ctx, caller.workspaceId, query))
  },
})
