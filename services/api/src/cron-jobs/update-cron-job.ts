import { cronJob, type UpdateCronJobBody, updateCronJobBody } from '@belfry/contract'
import { type CronJobChange, changeCronJob } from '@belfry/db'
import { expansionLookAheadMs } from '@belfry/queue'
import { endpoint } from '../http/endpoint.ts'
import { given } from '../http/given.ts'
import { ok } from '../http/reply.ts'
import { inspectTarget } from '../tasks/inspect-target.ts'
import { toRequestChange } from '../tasks/stored-request.ts'
import { cronJobAfterMove } from './answer-move.ts'

export const updateCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Change a cron job',
  answer: { status: 200, body: cronJob },
  params: { cronjob: 'cron' },
  body: updateCronJobBody,
  inspect: (ctx, body) => inspectTarget(ctx, body),
  async handle(ctx, { caller, params, body, bodyText }) {
    const change = toChange(body, bodyText)
    const move = await changeCronJob(ctx.pool, caller.workspaceId, params.cronjob, change, expansionLookAheadMs)
    return ok(await cronJobAfterMove(ctx, move, caller.workspaceId, params.cronjob, body))
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
