import { cronPreview, previewCronJobBody } from '@belfry/contract/cron-job'
import { AppError } from '@belfry/domain/app-error'
import { nextRuns } from '@belfry/domain/cron/cron-schedule'
import { describeCron } from '@belfry/domain/cron/describe-cron'
import { parseCron } from '@belfry/domain/cron/parse-cron'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { inspectSchedule } from './inspect-schedule.ts'
import { presentRunTimes } from './present-cron-job.ts'

export const previewCronJob = endpoint({
  right: 'cron_job.read',
  summary: 'Preview when a cron expression fires',
  answer: { status: 200, body: cronPreview },
  body: previewCronJobBody,
  inspect: (ctx, body) => inspectSchedule(ctx, body),
  async handle(ctx, { body }) {
    const parsed = parseCron(body.cron)
    if (!parsed.ok) throw new AppError('validation_failed', parsed.message)
    const schedule = { cron: parsed.cron, timezone: body.timezone, startsAt: null, endsAt: null }
    const runs = nextRuns(schedule, body.from?.getTime() ?? ctx.clock.now(), body.count)
    return ok({ description: describeCron(parsed.cron), ...presentRunTimes(runs) })
  },
})
