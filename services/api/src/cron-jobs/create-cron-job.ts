import { createCronJobBody, cronJob } from '@belfry/contract/cron-job'
import { createCronJob as storeCronJob } from '@belfry/db/cron-jobs/change-cron-job'
import { inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { newUuid, toId } from '@belfry/domain/id'
import { expansionLookAheadMs } from '@belfry/queue'
import { audit } from '../audit/audit.ts'
import { creation } from '../endpoint.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { refuseUsedKey } from '../http/object-key.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { openQueue } from '../queues/name-queue.ts'
import { withinLimit } from '../quotas/headroom.ts'
import { readQuota, refuseLargePayload, refuseOverQuota } from '../quotas/quotas.ts'
import { enqueue } from '../tasks/enqueue.ts'
import { toLabels } from '../tasks/new-task.ts'
import { originOf } from '../tasks/record-origin.ts'
import { inspectCallbacks, toStoredRequest } from '../tasks/stored-request.ts'
import { findCronJob } from './cron-job-row.ts'
import { inspectSchedule } from './inspect-schedule.ts'
import { presentCronJob } from './present-cron-job.ts'

export const createCronJob = creation({
  right: 'cron_job.write',
  summary: 'Create a cron job',
  answer: { status: 201, body: cronJob },
  refusals: ['quota_exceeded', 'key_in_use'],
  body: createCronJobBody,
  inspect: (ctx, body) => [...inspectTarget(ctx, body), ...inspectCallbacks(ctx, body), ...inspectSchedule(ctx, body)],
  async handle(work, { caller, body, bodyText, request }) {
    const { workspaceId, organizationId } = caller
    const quota = await readQuota(work, organizationId)
    refuseOverQuota(quota, 'later')
    const job = {
      id: newUuid(),
      workspaceId,
      key: body.key ?? null,
      name: body.name,
      cron: body.cron,
      timezone: body.timezone,
      startsAt: body.starts_at,
      endsAt: body.ends_at,
      overlap: body.overlap,
      catchUp: body.catch_up,
      maxAgeMs: body.max_age_ms,
      labels: toLabels(body.labels),
      ...toStoredRequest(body, bodyText),
      createdBy: originOf(work, { caller, request }).createdBy ?? null,
    }
    refuseLargePayload(quota, job.payload)
    const store = async (tx: Transaction) => {
      const { name, cron, timezone } = job
      const audited = {
        action: 'cron_job.created',
        objectId: toId('cron', job.id),
        details: { name, cron, timezone },
      } as const
      await audit(tx, caller, audited)
      return storeCronJob(tx, job, expansionLookAheadMs)
    }
    await openQueue(work.db, workspaceId, body.queue)
    const one = { workspaceId, objects: 'cronJobs', wanted: 1 } as const
    const { tasks, now } = await withinLimit(work, quota, one, ({ db }) =>
      refuseUsedKey(body.key, () => inTransaction(db, store)),
    )
    work.afterCommit(ctx => enqueue(ctx, tasks, now))
    const row = await findCronJob(work.db, workspaceId, job.id)
    if (!row) throw notFound() // deleted meanwhile
    const presented = presentCronJob(row, work.clock.now())
    return created(`/api/v1/scheduler/cronjobs/${presented.id}`, presented)
  },
})
