import { createTaskBody, task } from '@belfry/contract/task'
import { hasControls } from '@belfry/db/tasks/insert-tasks'
import { presentNewTask } from '@belfry/present/task-form'
import { failpoint } from '@belfry/runtime'
import { creation } from '../endpoint.ts'
import { created, ok } from '../http/reply.ts'
import { inspectNewTask, toControls, toNewTask } from './new-task.ts'
import { schedule } from './schedule.ts'
import { hasKey, isNew, presentStored, storeTask, storeTasks } from './store-tasks.ts'
import { toStoredRetry } from './stored-request.ts'

export const createTask = creation({
  right: 'task.create',
  summary: 'Schedule a task',
  answer: { status: 201, orStatus: 200, body: task },
  refusals: ['quota_exceeded', 'key_in_use', 'conflict'],
  body: createTaskBody,
  storesReply: body =>
    !hasControls({ connection: body.connection ?? null, ...toControls(body), ...toStoredRetry(body.retry) }),
  inspect: inspectNewTask,
  async handle(work, input) {
    const { body, bodyText, arrivedAt, caller } = input
    const task = toNewTask(caller.workspaceId, body, bodyText)
    const path = `/api/v1/scheduler/tasks/`
    const { reply } = await schedule(work, input, {
      starts: 'later',
      rows: [task],
      payload: task.payload,
      queues: [body.queue],
      async store(work) {
        if (__FAILPOINTS__) await failpoint('api.before_insert')
        if (hasKey(task)) {
          const { results, ...stored } = await storeTasks(work, [task])
          const presented = await presentStored(work.db, task, results[0], arrivedAt)
          return { reply: isNew(results[0]) ? created(path + presented.id, presented) : ok(presented), ...stored }
        }
        const storing = storeTask(work, task, arrivedAt, createdAt => {
          const presented = presentNewTask(task, createdAt)
          return created(path + presented.id, presented)
        })
        if (__FAILPOINTS__) await failpoint('api.in_insert')
        return storing
      },
    })
    return reply
  },
})
