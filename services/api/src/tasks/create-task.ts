import { createTaskBody, task } from '@belfry/contract'
import { failpoint } from '@belfry/runtime'
import { creation } from '../http/creation.ts'
import { created } from '../http/reply.ts'
import { refuseLargePayload } from '../quotas/refuse-large-payload.ts'
import { refuseOverQuota } from '../quotas/refuse-over-quota.ts'
import { withinLimit } from '../quotas/within-limit.ts'
import { continueTrace } from './continue-trace.ts'
import { inspectNewTask, toNewTask } from './new-task.ts'
import { presentNewTask } from './present-task.ts'
import { toDueTask } from './to-due-task.ts'

export const createTask = creation({
  right: 'task.write',
  summary: 'Schedule a task',
  answer: { status: 201, body: task },
  refusals: ['quota_exceeded'],
  body: createTaskBody,
  storesOneTask: () => true,
  inspect: inspectNewTask,
  async handle(work, { caller, body, bodyText, request }) {
    await refuseOverQuota(work, caller.organizationId, 'later')
    const task = toNewTask(caller.workspaceId, body, bodyText)
    await refuseLargePayload(work, caller.organizationId, task.payload)
    continueTrace(request, [task])
    await failpoint('api.before_insert')
    const answer = (createdAt: string) => {
      const presented = presentNewTask(task, createdAt)
      return created(`/api/v1/scheduler/tasks/${presented.id}`, presented)
    }
    const storing = withinLimit(work, caller, 'pendingTasks', 1, ({ storeTask }) => storeTask(task, answer))
    await failpoint('api.in_insert')
    const { stored, reply } = await storing
    work.enqueue([toDueTask(task, task.executeAt)], stored.now.getTime())
    return reply
  },
})
