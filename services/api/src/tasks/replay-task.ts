import { task } from '@belfry/contract'
import { replayTask as replay } from '@belfry/db'
import { AppError, toId } from '@belfry/domain'
import { creation } from '../http/creation.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { withinLimit } from '../quotas/headroom.ts'
import { readQuota, refuseOverQuota } from '../quotas/quotas.ts'
import { enqueue, hideDeadLetters } from './enqueue.ts'
import { presentTask } from './present-task.ts'
import { findTask } from './task-row.ts'

export const replayTask = creation({
  right: 'task.write',
  summary: 'Replay a finished task, as a new task that is due at once',
  answer: { status: 201, body: task },
  refusals: ['task_not_finished', 'quota_exceeded'],
  params: { task: 'task' },
  async handle(work, { caller, params }) {
    const { workspaceId } = caller
    const quota = await readQuota(work, caller.organizationId)
    refuseOverQuota(quota, 'later')
    const one = { workspaceId, objects: 'pendingTasks', wanted: 1 } as const
    const result = await withinLimit(work, quota, one, ({ db }) => replay(db, workspaceId, params.task))
    if (result.kind === 'refused' && result.state !== null) {
      const message = `The task is ${result.state}; only a finished task can be replayed.`
      throw new AppError('task_not_finished', message, { extra: { current_state: result.state } })
    }
    const row = result.kind === 'replayed' ? await findTask(work.db, workspaceId, result.id) : undefined
    if (result.kind === 'refused' || !row) throw notFound()
    const presented = presentTask(row)
    work.afterCommit(ctx => {
      enqueue(ctx, [result], result.now)
      hideDeadLetters(ctx, [toId('task', params.task)])
    })
    return created(`/api/v1/scheduler/tasks/${presented.id}`, presented)
  },
})
