import { createTaskBody, task } from '@belfry/contract'
import { failpoint } from '@belfry/runtime'
import { creation } from '../http/creation.ts'
import { created } from '../http/reply.ts'
import { openQueue } from '../queues/name-queue.ts'
import { withinLimit } from '../quotas/headroom.ts'
import { readQuota, refuseLargePayload, refuseOverQuota } from '../quotas/quotas.ts'
import { enqueue } from './enqueue.ts'
import { inspectNewTask, toNewTask } from './new-task.ts'
import { presentNewTask } from './present-task.ts'
import { recordOrigin } from './record-origin.ts'
import { storeTask } from './store-task.ts'

export const createTask = creation({
  right: 'task.write',
  summary: 'Schedule a task',
  answer: { status: 201, body: task },
  refusals: ['quota_exceeded'],
  body: createTaskBody,
  storesReply: () => true,
  inspect: inspectNewTask,
  async handle(work, { caller, body, bodyText, request }) {
    const { organizationId, workspaceId } = caller
    const quota = await readQuota(work, organizationId)
    refuseOverQuota(quota, 'later')
    const task = toNewTask(workspaceId, body, bodyText)
    refuseLargePayload(quota, task.payload)
    recordOrigin(work, { caller, request }, [task])
    if (__FAILPOINTS__) await failpoint('api.before_insert')
    const answer = (createdAt: string) => {
      const presented = presentNewTask(task, createdAt)
      return created(`/api/v1/scheduler/tasks/${presented.id}`, presented)
    }
    await openQueue(work.db, workspaceId, body.queue)
    const one = { workspaceId, objects: 'pendingTasks', wanted: 1 } as const
    const storing = withinLimit(work, quota, one, work => storeTask(work, task, answer))
    if (__FAILPOINTS__) await failpoint('api.in_insert')
    const { stored, reply } = await storing
    work.afterCommit(ctx => enqueue(ctx, [{ ...task, dueAt: task.executeAt }], stored.now))
    return reply
  },
})
