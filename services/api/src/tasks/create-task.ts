import { createTaskBody, task } from '@belfry/contract/task'
import { hasControls } from '@belfry/db/tasks/insert-tasks'
import { storeUnderKeys } from '@belfry/db/tasks/store-under-key'
import { failpoint } from '@belfry/runtime'
import { creation } from '../endpoint.ts'
import { created, ok } from '../http/reply.ts'
import { openQueue } from '../queues/name-queue.ts'
import { withinLimit } from '../quotas/headroom.ts'
import { readQuota, refuseLargePayload, refuseOverQuota, spendChained } from '../quotas/quotas.ts'
import { enqueue } from './enqueue.ts'
import { inspectNewTask, toControls, toNewTask } from './new-task.ts'
import { presentNewTask } from './present-task.ts'
import { recordOrigin } from './record-origin.ts'
import { dueUnderKey, hasKey, presentUnderKey, storeTask } from './store-task.ts'

export const createTask = creation({
  right: 'task.create',
  summary: 'Schedule a task',
  answer: { status: 201, orStatus: 200, body: task },
  refusals: ['quota_exceeded', 'key_in_use'],
  body: createTaskBody,
  storesReply: body => !hasControls(toControls(body)),
  inspect: inspectNewTask,
  async handle(work, { caller, body, bodyText, request, arrivedAt }) {
    const { organizationId, workspaceId } = caller
    const quota = await readQuota(work, organizationId)
    refuseOverQuota(quota, 'later')
    const task = toNewTask(workspaceId, body, bodyText)
    refuseLargePayload(quota, task.payload)
    recordOrigin(work, { caller, request }, [task])
    await spendChained(work.db, quota, { organizationId, tasks: [task] })
    if (__FAILPOINTS__) await failpoint('api.before_insert')
    const answer = (createdAt: string) => {
      const presented = presentNewTask(task, createdAt)
      return created(`/api/v1/scheduler/tasks/${presented.id}`, presented)
    }
    await openQueue(work.db, workspaceId, body.queue)
    const one = { workspaceId, objects: 'pendingTasks', wanted: 1 } as const
    if (hasKey(task)) {
      const [result] = await withinLimit(work, quota, one, ({ db }) => storeUnderKeys(db, workspaceId, [task]))
      if (!result) throw new Error('The insert returned no row for the task.')
      const presented = await presentUnderKey(work.db, task, result, arrivedAt)
      const due = dueUnderKey(task, result)
      if (due) work.afterCommit(ctx => enqueue(ctx, [due.row], due.now))
      return result.kind === 'stored' ? created(`/api/v1/scheduler/tasks/${presented.id}`, presented) : ok(presented)
    }
    const storing = withinLimit(work, quota, one, work => storeTask(work, task, answer, arrivedAt))
    if (__FAILPOINTS__) await failpoint('api.in_insert')
    const { stored, reply } = await storing
    work.afterCommit(ctx => enqueue(ctx, [{ ...task, dueAt: task.executeAt }], stored.now))
    return reply
  },
})
