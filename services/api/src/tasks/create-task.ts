import { createTaskBody, task } from '@belfry/contract'
import type { NewTask } from '@belfry/db'
import { newUuid, toId } from '@belfry/domain'
import { failpoint } from '@belfry/runtime'
import { endpoint } from '../http/endpoint.ts'
import { created } from '../http/reply.ts'
import { executeAtNotFuture, inspectExecuteAt } from './execute-at.ts'
import { inspectTarget } from './inspect-target.ts'
import { presentTask } from './present-task.ts'
import { toStoredRequest } from './stored-request.ts'

export const createTask = endpoint({
  right: 'task.write',
  summary: 'Schedule a task',
  answer: { status: 201, body: task },
  body: createTaskBody,
  inspect: (ctx, body, errors) => [...inspectTarget(ctx, body), ...inspectExecuteAt(ctx, body, errors)],
  async handle(ctx, { caller, body, bodyText }) {
    const task = {
      id: newUuid(),
      workspaceId: caller.workspaceId,
      source: 'task',
      executeAt: body.execute_at,
      name: body.name,
      ...toStoredRequest(body, bodyText),
      topic: null,
      replayOf: null,
    } satisfies NewTask
    await failpoint('api.before_insert')
    const inserting = ctx.insertTask(task)
    await failpoint('api.in_insert')
    const inserted = await inserting
    await failpoint('api.after_commit')
    if (!inserted.createdAt) throw executeAtNotFuture()
    const presented = presentTask({ ...task, ...fresh(task.executeAt, inserted.createdAt) })
    const due = { id: presented.id, dueAt: task.executeAt.getTime(), workspace: toId('ws', task.workspaceId) }
    ctx.enqueue([due], inserted.now.getTime())
    await failpoint('api.after_enqueue')
    return created(`/api/v1/scheduler/tasks/${presented.id}`, presented)
  },
})

// What every task is right after its creation.
function fresh(executeAt: Date, createdAt: Date) {
  return {
    state: 'pending' as const,
    stateReason: null,
    attempts: 0,
    dueAt: executeAt,
    cronJobId: null,
    eventId: null,
    createdAt,
    updatedAt: createdAt,
    finishedAt: null,
    lastRunId: null,
    lastRunStatus: null,
    lastRunResponseStatus: null,
    lastRunErrorCode: null,
    lastRunFinishedAt: null,
  }
}
