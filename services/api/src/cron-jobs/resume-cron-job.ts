import { cronJob } from '@belfry/contract'
import { resumeCronJob as resume } from '@belfry/db'
import { expansionLookAheadMs } from '@belfry/queue'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { moveCronJob } from './move-cron-job.ts'
import { readCronJob } from './present-cron-job.ts'

export const resumeCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Resume a cron job from now on',
  answer: { status: 200, body: cronJob },
  params: { cronjob: 'cron' },
  async handle(ctx, { caller, params: { cronjob: id } }) {
    const { workspaceId } = caller
    await moveCronJob(ctx, caller, { id, action: 'cron_job.resumed' }, tx =>
      resume(tx, workspaceId, id, expansionLookAheadMs),
    )
    return ok(await readCronJob(ctx, workspaceId, id))
  },
})
