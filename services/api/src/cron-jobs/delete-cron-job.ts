import { deleteCronJob as remove } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { noContent } from '../http/reply.ts'
import { auditedMove } from './audited-move.ts'

export const deleteCronJob = endpoint({
  right: 'cron_job.delete',
  summary: 'Delete a cron job and cancel its tasks that have not started',
  answer: { status: 204 },
  params: { cronjob: 'cron' },
  async handle(ctx, { caller, params }) {
    const { cronjob: id } = params
    const move = await auditedMove(ctx, caller, 'cron_job.deleted', id, tx => remove(tx, caller.workspaceId, id))
    if (move.kind !== 'moved') throw notFound()
    return noContent()
  },
})
