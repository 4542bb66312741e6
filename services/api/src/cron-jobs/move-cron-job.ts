import { operations } from '@belfry/contract/operations'
import {
  type CronJobMove,
  pauseCronJob as pause,
  deleteCronJob as remove,
  resumeCronJob as resume,
  triggerCronJob as trigger,
} from '@belfry/db/cron-jobs/change-cron-job'
import { inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { toId } from '@belfry/domain/id'
import { presentTask } from '@belfry/present/present-task'
import { expansionLookAheadMs } from '@belfry/queue'
import { type Auditor, audit } from '../audit/audit.ts'
import type { Context } from '../context.ts'
import { endpoint, workOf } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { findTask } from '../tasks/read-tasks.ts'
import { enqueue, type Origin, schedule } from '../tasks/schedule.ts'
import { neverRuns } from './inspect-schedule.ts'
import { readCronJob } from './read-cron-jobs.ts'

export const pauseCronJob = endpoint(operations.pauseCronJob, async (ctx, { caller, params: { cronjob: id } }) => {
  const { workspaceId } = caller
  await moveCronJob(ctx, caller, { id, action: 'cron_job.paused' }, tx => pause(tx, workspaceId, id))
  return readCronJob(ctx, caller, id)
})

export const resumeCronJob = endpoint(operations.resumeCronJob, async (ctx, { caller, params: { cronjob: id } }) => {
  const { workspaceId } = caller
  await moveCronJob(ctx, caller, { id, action: 'cron_job.resumed' }, tx =>
    resume(tx, workspaceId, id, expansionLookAheadMs),
  )
  return readCronJob(ctx, caller, id)
})

export const deleteCronJob = endpoint(operations.deleteCronJob, async (ctx, { caller, params: { cronjob: id } }) => {
  await moveCronJob(ctx, caller, { id, action: 'cron_job.deleted' }, tx => remove(tx, caller.workspaceId, id))
})

/** How a cron job changes. */
export type CronJobAction = `cron_job.${'changed' | 'paused' | 'resumed' | 'deleted'}`

/**
 * Changes a cron job and records that in the audit log, in one transaction. A change without an effect is not recorded.
 * @throws AppError `not_found`, or `validation_failed` when the cron job would never run again.
 */
export async function moveCronJob<A extends CronJobAction>(
  ctx: Context,
  caller: Auditor<A>,
  { id, action, body }: { id: string; action: A; body?: Readonly<Record<string, unknown>> },
  move: (tx: Transaction) => Promise<CronJobMove>,
): Promise<void> {
  // A URL or a header may hold a secret, so the record has the names of the changed fields and not their values.
  const fields = body && { fields: Object.keys(body) }
  const moved = await inTransaction(ctx.pool, async tx => {
    const moved = await move(tx)
    if (moved.kind === 'unknown') throw notFound()
    if (moved.kind === 'never_runs') throw neverRuns(body ?? {})
    if (moved.isChanged) {
      await audit(tx, caller, action, toId('cron', id), { name: moved.name, ...fields })
    }
    return moved
  })
  enqueue(ctx, moved.expansion.tasks, moved.expansion.now)
}

export const triggerCronJob = endpoint(operations.triggerCronJob, async (ctx, input) => {
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
})
