import { task } from '@belfry/contract/task'
import { triggerCronJob as trigger } from '@belfry/db/cron-jobs/change-cron-job'
import { presentTask } from '@belfry/present/present-task'
import { endpoint, workOf } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { type Origin, schedule } from '../tasks/schedule.ts'
import { findTask } from '../tasks/task-row.ts'

export const triggerCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Dispatch a cron job at once',
  answer: { status: 201, body: task },
  refusals: ['quota_exceeded', 'loop_detected'],
  params: { cronjob: 'cron' },
  async handle(ctx, input) {
    const { params, caller } = input
    const origin: Origin = {}
    const { row } = await schedule(workOf(ctx), input, {
      starts: 'later',
      rows: [origin],
      async store({ db }) {
        const due = await trigger(db, caller.workspaceId, params.cronjob, origin)
        const row = due && (await findTask(db, caller.workspaceId, due.id))
        if (!row) throw notFound()
        return { row, due: [row], now: new Date(ctx.clock.now()) }
      },
    })
    const task = presentTask(row)
    return created(`/api/v1/scheduler/tasks/${task.id}`, task)
  },
})
