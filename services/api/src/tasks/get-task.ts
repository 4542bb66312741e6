import { task } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { readTask } from './present-task.ts'

export const getTask = endpoint({
  right: 'task.read',
  summary: 'Read a task',
  answer: { status: 200, body: task },
  params: { task: 'task' },
  async handle(ctx, { caller, params }) {
    return ok(await readTask(ctx, caller.workspaceId, params.task))
  },
})
