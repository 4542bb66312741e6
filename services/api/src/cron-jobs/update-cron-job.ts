import { cronJob, type UpdateCronJobBody, updateCronJobBody } from '@belfry/contract'
import { type CronJobChange, changeCronJob, type Transaction } from '@belfry/db'
import { expansionLookAheadMs } from '@belfry/queue'
import { endpoint } from '../http/endpoint.ts'
import { given, isEmpty } from '../http/given.ts'
import { ok } from '../http/reply.ts'
import { readQuota, refuseLargePayload } from '../quotas/quotas.ts'
import { inspectTarget } from '../tasks/inspect-target.ts'
import { toRequestChange } from '../tasks/stored-request.ts'
import { cronJobAfterMove } from './answer-move.ts'
import { auditedMove } from './audited-move.ts'
import { readCronJob } from './present-cron-job.ts'

export const updateCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Change a cron job',
  answer: { status: 200, body: cronJob },
  refusals: ['quota_exceeded'],
  params: { cronjob: 'cron' },
  body: updateCronJobBody,
  inspect: (ctx, body) => inspectTarget(ctx, body),
  async handle(ctx, { caller, params, body, bodyText }) {
    const change = toChange(body, bodyText)
    const { workspaceId } = caller
    const { cronjob: id } = params
    if (isEmpty(change)) return ok(await readCronJob(ctx, workspaceId, id))
    refuseLargePayload(await readQuota(ctx, caller.organizationId), change.payload)
    const apply = (tx: Transaction) => changeCronJob(tx, workspaceId, id, change, expansionLookAheadMs)
    // A url or a header may hold a secret that was not given as one: the names of the fields are all that is told.
    const move = await auditedMove(ctx, caller, 'cron_job.changed', id, apply, { fields: Object.keys(body) })
    return ok(await cronJobAfterMove(ctx, move, workspaceId, id, body))
  },
})

function toChange(body: UpdateCronJobBody, bodyText: string): CronJobChange {
  return given({
    name: body.name,
    cron: body.cron,
    timezone: body.timezone,
    startsAt: body.starts_at,
    endsAt: body.ends_at,
    overlap: body.overlap,
    catchUp: body.catch_up,
    ...toRequestChange(body, bodyText),
  })
}
