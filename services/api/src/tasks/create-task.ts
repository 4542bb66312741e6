import { createTaskBody, task } from '@belfry/contract'
import { failpoint } from '@belfry/runtime'
import { creation } from '../http/creation.ts'
import { created } from '../http/reply.ts'
import { refuseLargePayload } from '../quotas/refuse-large-payload.ts'
import { refuseOverQuota } from '../quotas/refuse-over-quota.ts'
import { withinLimit } from '../quotas/within-limit.ts'
import { continueTrace } from './continue-trace.ts'
import { executeAtNotFuture } from './execute-at.ts'
import { inspectNewTask, toNewTask } from './new-task.ts'
import { presentTask } from './present-task.ts'
import { isStored, toTaskRow } from './stored-task.ts'

export const createTask = creation({
  right: 'task.write',
  summary: 'Schedule a task',
  answer: { status: 201, body: task },
  refusals: ['quota_exceeded'],
  body: createTaskBody,
  inspect: inspectNewTask,
  async handle(work, { caller, body, bodyText, request }) {
    await refuseOverQuota(work, caller.organizationId, 'later')
    const task = toNewTask(caller.workspaceId, body, bodyText)
    await refuseLargePayload(work, caller.organizationId, task.payload)
    continueTrace(request, [task])
    await failpoint('api.before_insert')
    const inserting = withinLimit(work, caller, 'pendingTasks', 1, ({ insertTask }) => insertTask(task))
    await failpoint('api.in_insert')
    const inserted = await inserting
    if (!isStored(inserted)) throw executeAtNotFuture()
    const presented = presentTask(toTaskRow(task, inserted))
    const due = { id: presented.id, dueAt: task.executeAt.getTime(), workspace: presented.workspace_id }
    work.enqueue([due], inserted.now.getTime())
    return created(`/api/v1/scheduler/tasks/${presented.id}`, presented)
  },
})
