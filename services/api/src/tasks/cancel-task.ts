import { task } from '@belfry/contract'
import { cancelPendingTask } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { taskAfterMove } from './answer-move.ts'
import { presentTask } from './present-task.ts'

export const cancelTask = endpoint({
  right: 'task.delete',
  summary: 'Cancel a pending task',
  answer: { status: 200, body: task },
  refusals: ['task_not_pending'],
  params: { task: 'task' },
  async handle(ctx, { caller, params }) {
    const result = await cancelPendingTask(ctx.pool, caller.workspaceId, params.task)
    return ok(presentTask(await taskAfterMove(ctx, result, caller.workspaceId, params.task)))
  },
})
