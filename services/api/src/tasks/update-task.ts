import { updateTaskBody } from '@belfry/contract'
import { changePendingTask, type TaskChange } from '@belfry/db'
import { memberText } from '@belfry/domain'
import type { z } from 'zod'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { taskAfterMove } from './answer-move.ts'
import { executeAtNotFuture, inspectExecuteAt } from './execute-at.ts'
import { inspectTarget } from './inspect-target.ts'
import { presentTask } from './present-task.ts'

export const updateTask = endpoint({
  auth: 'workspace',
  params: { task: 'task' },
  body: updateTaskBody,
  inspect: (ctx, body, errors) => [...inspectTarget(ctx, body), ...inspectExecuteAt(ctx, body, errors)],
  async handle(ctx, { caller, params, body, bodyText }) {
    const change = toChange(body, memberText(bodyText, ['payload']))
    const result = await changePendingTask(ctx.pool, caller.workspaceId, params.task, change)
    if (result.kind === 'not_future') throw executeAtNotFuture()
    const row = await taskAfterMove(ctx, result, caller.workspaceId, params.task)
    const presented = presentTask(row)
    if (change.executeAt && result.kind === 'moved') {
      ctx.enqueue([{ id: presented.id, dueAt: change.executeAt.getTime() }], result.now.getTime())
    }
    return ok(presented)
  },
})

function toChange(body: z.output<typeof updateTaskBody>, payload: string | undefined): TaskChange {
  const change = {
    executeAt: body.execute_at,
    name: body.name,
    url: body.url,
    method: body.method,
    headers: body.headers && JSON.stringify(body.headers),
    payload,
    maxRetries: body.retry?.max_retries,
    backoff: body.retry?.backoff,
    baseDelayMs: body.retry?.base_delay_ms,
    maxDelayMs: body.retry?.max_delay_ms,
    timeoutMs: body.timeout_ms,
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as TaskChange
}
