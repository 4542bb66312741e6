import { task } from '@belfry/contract'
import { cancelPendingTask, inTransaction, untilDecided } from '@belfry/db'
import { toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { presentTask } from './present-task.ts'
import { taskAfterMove } from './task-after-move.ts'

export const cancelTask = endpoint({
  right: 'task.delete',
  summary: 'Cancel a pending task',
  answer: { status: 200, body: task },
  refusals: ['task_not_pending'],
  params: { task: 'task' },
  async handle(ctx, { caller, params }) {
    const objectId = toId('task', params.task)
    const cancel = () =>
      inTransaction(ctx.pool, async tx => {
        const moved = await cancelPendingTask(tx, caller.workspaceId, params.task)
        if (moved.kind === 'moved') await audit(tx, caller, { action: 'task.cancelled', objectId })
        return moved
      })
    const result = await untilDecided(cancel)
    return ok(presentTask(await taskAfterMove(ctx, result, caller.workspaceId, params.task)))
  },
})
