import { task, updateTaskBody } from '@belfry/contract'
import { changePendingTask, type TaskChange, untilDecided } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { given, isEmpty } from '../http/given.ts'
import { ok } from '../http/reply.ts'
import { readQuota, refuseLargePayload } from '../quotas/quotas.ts'
import { enqueue } from './enqueue.ts'
import { executeAtNotFuture, inspectExecuteAt } from './execute-at.ts'
import { readTask } from './get-task.ts'
import { inspectTarget } from './inspect-target.ts'
import { presentTask } from './present-task.ts'
import { toRequestChange } from './stored-request.ts'
import { taskAfterMove } from './task-after-move.ts'

export const updateTask = endpoint({
  right: 'task.write',
  summary: 'Change a pending task',
  answer: { status: 200, body: task },
  refusals: ['task_not_pending', 'quota_exceeded'],
  params: { task: 'task' },
  body: updateTaskBody,
  inspect: (ctx, body, errors) => [...inspectTarget(ctx, body), ...inspectExecuteAt(ctx, body, errors)],
  async handle(ctx, { caller, params, body, bodyText }) {
    const change: TaskChange = given({
      executeAt: body.execute_at,
      name: body.name,
      ...toRequestChange(body, bodyText),
    })
    if (isEmpty(change)) return ok(await readTask(ctx, caller.workspaceId, params.task))
    refuseLargePayload(await readQuota(ctx, caller.organizationId), change.payload)
    const result = await untilDecided(() => changePendingTask(ctx.pool, caller.workspaceId, params.task, change))
    if (result.kind === 'not_future') throw executeAtNotFuture()
    const row = await taskAfterMove(ctx, result, caller.workspaceId, params.task)
    if (change.executeAt && result.kind === 'moved') {
      enqueue(ctx, [{ id: row.id, dueAt: change.executeAt }], result.now)
    }
    return ok(presentTask(row))
  },
})
