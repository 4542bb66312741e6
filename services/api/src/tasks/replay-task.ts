import { task } from '@belfry/contract'
import { replayTask as replay } from '@belfry/db'
import { AppError, toId } from '@belfry/domain'
import { creation } from '../http/creation.ts'
import { notFound } from '../http/not-found.ts'
import { created } from '../http/reply.ts'
import { refuseOverQuota } from '../quotas/refuse-over-quota.ts'
import { withinLimit } from '../quotas/within-limit.ts'
import { presentTask } from './present-task.ts'
import { findTask } from './task-row.ts'

export const replayTask = creation({
  right: 'task.write',
  summary: 'Send a finished task again, as a new task that is due at once',
  answer: { status: 201, body: task },
  refusals: ['task_not_finished', 'quota_exceeded'],
  params: { task: 'task' },
  async handle(work, { caller, params }) {
    const { workspaceId } = caller
    await refuseOverQuota(work, caller.organizationId, 'later')
    const result = await withinLimit(work, caller, 'pendingTasks', 1, ({ db }) => replay(db, workspaceId, params.task))
    if (result.kind === 'refused' && result.state !== null) {
      const message = `The task is ${result.state}; only a finished task can be replayed.`
      throw new AppError('task_not_finished', message, { extra: { current_state: result.state } })
    }
    const row = result.kind === 'replayed' ? await findTask(work.db, workspaceId, result.id) : undefined
    if (result.kind === 'refused' || !row) throw notFound()
    const presented = presentTask(row)
    work.enqueue([{ id: presented.id, dueAt: result.dueAt.getTime() }], result.now.getTime())
    work.hideDeadLetters([toId('task', params.task)])
    return created(`/api/v1/scheduler/tasks/${presented.id}`, presented)
  },
})
