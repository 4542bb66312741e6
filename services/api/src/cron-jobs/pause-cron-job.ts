import { cronJob } from '@belfry/contract'
import { pauseCronJob as pause } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { cronJobAfterMove } from './answer-move.ts'
import { auditedMove } from './audited-move.ts'

export const pauseCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Pause a cron job',
  answer: { status: 200, body: cronJob },
  params: { cronjob: 'cron' },
  async handle(ctx, { caller, params }) {
    const { workspaceId } = caller
    const { cronjob: id } = params
    const move = await auditedMove(ctx, caller, 'cron_job.paused', id, tx => pause(tx, workspaceId, id))
    return ok(await cronJobAfterMove(ctx, move, workspaceId, id))
  },
})
