import { createCronJobBody, cronJob } from '@belfry/contract'
import { createCronJob as storeCronJob } from '@belfry/db'
import { newUuid, toId } from '@belfry/domain'
import { expansionLookAheadMs } from '@belfry/queue'
import { endpoint } from '../http/endpoint.ts'
import { created } from '../http/reply.ts'
import { refuseOverCount } from '../quotas/refuse-over-count.ts'
import { refuseOverQuota } from '../quotas/refuse-over-quota.ts'
import { inspectTarget } from '../tasks/inspect-target.ts'
import { toStoredRequest } from '../tasks/stored-request.ts'
import { enqueueOccurrences } from './enqueue-occurrences.ts'
import { inspectSchedule } from './inspect-schedule.ts'
import { readCronJob } from './present-cron-job.ts'

export const createCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Create a cron job',
  answer: { status: 201, body: cronJob },
  refusals: ['quota_exceeded'],
  body: createCronJobBody,
  inspect: (ctx, body) => [...inspectTarget(ctx, body), ...inspectSchedule(ctx, body)],
  async handle(ctx, { caller, body, bodyText }) {
    const { workspaceId, organizationId } = caller
    await refuseOverQuota(ctx, organizationId, 'later')
    await refuseOverCount(ctx, organizationId, 'cronJobs', () => ctx.prisma.cronJob.count({ where: { workspaceId } }))
    const job = {
      id: newUuid(),
      workspaceId,
      name: body.name,
      cron: body.cron,
      timezone: body.timezone,
      startsAt: body.starts_at,
      endsAt: body.ends_at,
      overlap: body.overlap,
      catchUp: body.catch_up,
      ...toStoredRequest(body, bodyText),
    }
    enqueueOccurrences(ctx, await storeCronJob(ctx.pool, job, expansionLookAheadMs))
    const location = `/api/v1/scheduler/cronjobs/${toId('cron', job.id)}`
    return created(location, await readCronJob(ctx, workspaceId, job.id))
  },
})
