import { task } from '@belfry/contract'
import { triggerCronJob as trigger } from '@belfry/db'
import { throughPool } from '../http/creation.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { created } from '../http/reply.ts'
import { refuseOverQuota } from '../quotas/refuse-over-quota.ts'
import { withinLimit } from '../quotas/within-limit.ts'
import { presentTask } from '../tasks/present-task.ts'
import { findTask } from '../tasks/task-row.ts'
import { enqueueOccurrences } from './enqueue-occurrences.ts'

export const triggerCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Dispatch a cron job at once',
  answer: { status: 201, body: task },
  refusals: ['quota_exceeded'],
  params: { cronjob: 'cron' },
  async handle(ctx, { caller, params }) {
    await refuseOverQuota(ctx, caller.organizationId, 'later')
    const work = { ...ctx, ...throughPool(ctx) }
    const due = await withinLimit(work, caller, 'pendingTasks', 1, ({ db }) =>
      trigger(db, caller.workspaceId, params.cronjob),
    )
    const row = due && (await findTask(ctx.pool, caller.workspaceId, due.id))
    if (!row) throw notFound()
    enqueueOccurrences(ctx, { tasks: [row], now: new Date(ctx.clock.now()) })
    const task = presentTask(row)
    return created(`/api/v1/scheduler/tasks/${task.id}`, task)
  },
})
