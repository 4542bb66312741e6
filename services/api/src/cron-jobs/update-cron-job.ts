import { updateCronJobBody } from '@belfry/contract'
import { type CronJobChange, changeCronJob } from '@belfry/db'
import { memberText } from '@belfry/domain'
import { expansionLookAheadMs } from '@belfry/queue'
import type { z } from 'zod'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { inspectTarget } from '../tasks/inspect-target.ts'
import { cronJobAfterMove } from './answer-move.ts'

export const updateCronJob = endpoint({
  auth: 'workspace',
  params: { cronjob: 'cron' },
  body: updateCronJobBody,
  inspect: inspectTarget,
  async handle(ctx, { caller, params, body, bodyText }) {
    const change = toChange(body, memberText(bodyText, ['payload']))
    const move = await changeCronJob(ctx.pool, caller.workspaceId, params.cronjob, change, expansionLookAheadMs)
    return ok(await cronJobAfterMove(ctx, move, caller.workspaceId, params.cronjob, body))
  },
})

function toChange(body: z.output<typeof updateCronJobBody>, payload: string | undefined): CronJobChange {
  const change = {
    name: body.name,
    cron: body.cron,
    timezone: body.timezone,
    startsAt: body.starts_at,
    endsAt: body.ends_at,
    overlap: body.overlap,
    catchUp: body.catch_up,
    url: body.url,
    method: body.method,
    headers: body.headers && JSON.stringify(body.headers),
    payload,
    maxRetries: body.retry?.max_retries,
    backoff: body.retry?.backoff,
    baseDelayMs: body.retry?.base_delay_ms,
    maxDelayMs: body.retry?.max_delay_ms,
    timeoutMs: body.timeout_ms,
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as CronJobChange
}
