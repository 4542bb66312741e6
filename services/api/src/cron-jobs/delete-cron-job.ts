import { deleteCronJob as remove } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { noContent } from '../http/reply.ts'
import { moveCronJob } from './move-cron-job.ts'

export const deleteCronJob = endpoint({
  right: 'cron_job.delete',
  summary: 'Delete a cron job and cancel its tasks that have not started',
  answer: { status: 204 },
  params: { cronjob: 'cron' },
  async handle(ctx, { caller, params: { cronjob: id } }) {
    await moveCronJob(ctx, caller, { id, action: 'cron_job.deleted' }, tx => remove(tx, caller.workspaceId, id))
    return noContent()
  },
})
