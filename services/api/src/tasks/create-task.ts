import { createTaskBody, task } from '@belfry/contract'
import type { NewTask } from '@belfry/db'
import { newUuid } from '@belfry/domain'
import { failpoint } from '@belfry/runtime'
import { creation } from '../http/creation.ts'
import { created } from '../http/reply.ts'
import { executeAtNotFuture, inspectExecuteAt } from './execute-at.ts'
import { inspectTarget } from './inspect-target.ts'
import { presentTask } from './present-task.ts'
import { toStoredRequest } from './stored-request.ts'
import { isStored, toTaskRow } from './stored-task.ts'

export const createTask = creation({
  right: 'task.write',
  summary: 'Schedule a task',
  answer: { status: 201, body: task },
  body: createTaskBody,
  inspect: (ctx, body, errors) => [...inspectTarget(ctx, body), ...inspectExecuteAt(ctx, body, errors)],
  async handle(work, { caller, body, bodyText }) {
    const task = {
      id: newUuid(),
      workspaceId: caller.workspaceId,
      source: 'task',
      executeAt: body.execute_at,
      name: body.name,
      ...toStoredRequest(body, bodyText),
      topic: null,
      eventId: null,
      replayOf: null,
    } satisfies NewTask
    await failpoint('api.before_insert')
    const inserting = work.insertTask(task)
    await failpoint('api.in_insert')
    const inserted = await inserting
    if (!isStored(inserted)) throw executeAtNotFuture()
    const presented = presentTask(toTaskRow(task, inserted))
    work.enqueue([{ id: presented.id, dueAt: task.executeAt.getTime() }], inserted.now.getTime())
    return created(`/api/v1/scheduler/tasks/${presented.id}`, presented)
  },
})
