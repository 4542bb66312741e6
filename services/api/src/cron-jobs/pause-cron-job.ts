import { cronJob } from '@belfry/contract'
import { pauseCronJob as pause } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { moveCronJob } from './move-cron-job.ts'
import { readCronJob } from './present-cron-job.ts'

export const pauseCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Pause a cron job',
  answer: { status: 200, body: cronJob },
  params: { cronjob: 'cron' },
  async handle(ctx, { caller, params: { cronjob: id } }) {
    const { workspaceId } = caller
    await moveCronJob(ctx, caller, { id, action: 'cron_job.paused' }, tx => pause(tx, workspaceId, id))
    return ok(await readCronJob(ctx, workspaceId, id))
  },
})
