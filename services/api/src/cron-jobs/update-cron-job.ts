import { cronJob, type UpdateCronJobBody, updateCronJobBody } from '@belfry/contract/cron-job'
import { type CronJobChange, changeCronJob } from '@belfry/db/cron-jobs/change-cron-job'
import { expansionLookAheadMs } from '@belfry/queue'
import { authorOf } from '../auth/authorize.ts'
import { endpoint } from '../endpoint.ts'
import { given, isEmpty } from '../http/given.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { refuseUsedKey } from '../http/object-key.ts'
import { ok } from '../http/reply.ts'
import { nameQueues, planQueues } from '../queues/name-queues.ts'
import { readQuota, refuseLargePayload } from '../quotas/quotas.ts'
import { toLabels } from '../tasks/new-task.ts'
import { inspectCallbacks, toRequestChange } from '../tasks/stored-request.ts'
import { moveCronJob } from './move-cron-job.ts'
import { readCronJob } from './present-cron-job.ts'

export const updateCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Change a cron job',
  answer: { status: 200, body: cronJob },
  refusals: ['quota_exceeded', 'key_in_use', 'conflict'],
  params: { cronjob: 'cron' },
  body: updateCronJobBody,
  inspect: (ctx, body) => [...inspectTarget(ctx, body), ...inspectCallbacks(ctx, body)],
  async handle(ctx, { caller, params: { cronjob: id }, body, bodyText }) {
    const { workspaceId, organizationId } = caller
    const change = toChange(body, bodyText)
    if (!isEmpty(change)) {
      refuseLargePayload(await readQuota(ctx, organizationId), change.payload)
      await refuseUsedKey(body.key, () =>
        moveCronJob(ctx, caller, { id, action: 'cron_job.changed', body }, async tx => {
          await nameQueues(tx, caller, await planQueues(tx, caller, [body.queue]))
          return changeCronJob(tx, workspaceId, id, { ...change, updatedBy: authorOf(caller) }, expansionLookAheadMs)
        }),
      )
    }
    return ok(await readCronJob(ctx, workspaceId, id))
  },
})

function toChange(body: UpdateCronJobBody, bodyText: string): CronJobChange {
  return given({
    key: body.key,
    name: body.name,
    cron: body.cron,
    timezone: body.timezone,
    startsAt: body.starts_at,
    endsAt: body.ends_at,
    overlap: body.overlap,
    catchUp: body.catch_up,
    maxAgeMs: body.max_age_ms,
    labels: body.labels && toLabels(body.labels),
    ...toRequestChange(body, bodyText),
  })
}
