import { task } from '@belfry/contract/task'
import { triggerCronJob as trigger } from '@belfry/db/cron-jobs/change-cron-job'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { withinLimit } from '../quotas/headroom.ts'
import { readQuota, refuseOverQuota, spendChained } from '../quotas/quotas.ts'
import { enqueue } from '../tasks/enqueue.ts'
import { presentTask } from '../tasks/present-task.ts'
import { originOf } from '../tasks/record-origin.ts'
import { findTask } from '../tasks/task-row.ts'

export const triggerCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Dispatch a cron job at once',
  answer: { status: 201, body: task },
  refusals: ['quota_exceeded', 'loop_detected'],
  params: { cronjob: 'cron' },
  async handle(ctx, { caller, params, request }) {
    const { workspaceId } = caller
    const origin = originOf(ctx, { caller, request })
    const quota = await readQuota(ctx, caller.organizationId)
    refuseOverQuota(quota, 'later')
    await spendChained(ctx.pool, quota, { organizationId: caller.organizationId, tasks: [origin] })
    const one = { workspaceId, objects: 'pendingTasks', wanted: 1 } as const
    const work = { db: ctx.pool, headrooms: ctx.headrooms }
    const due = await withinLimit(work, quota, one, ({ db }) => trigger(db, workspaceId, params.cronjob, origin))
    const row = due && (await findTask(ctx.pool, workspaceId, due.id))
    if (!row) throw notFound()
    enqueue(ctx, [row], new Date(ctx.clock.now()))
    const task = presentTask(row)
    return created(`/api/v1/scheduler/tasks/${task.id}`, task)
  },
})
