import { cronJob } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { readCronJob } from './present-cron-job.ts'

export const getCronJob = endpoint({
  right: 'cron_job.read',
  summary: 'Read a cron job',
  answer: { status: 200, body: cronJob },
  params: { cronjob: 'cron' },
  async handle(ctx, { caller, params }) {
    return ok(await readCronJob(ctx, caller.workspaceId, params.cronjob))
  },
})
