import { cronJob } from '@belfry/contract'
import { resumeCronJob as resume } from '@belfry/db'
import { expansionLookAheadMs } from '@belfry/queue'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { cronJobAfterMove } from './answer-move.ts'
import { auditedMove } from './audited-move.ts'

export const resumeCronJob = endpoint({
  right: 'cron_job.write',
  summary: 'Resume a cron job from now on',
  answer: { status: 200, body: cronJob },
  params: { cronjob: 'cron' },
  async handle(ctx, { caller, params }) {
    const { workspaceId } = caller
    const { cronjob: id } = params
    const move = await auditedMove(ctx, caller, 'cron_job.resumed', id, tx =>
      resume(tx, workspaceId, id, expansionLookAheadMs),
    )
    return ok(await cronJobAfterMove(ctx, move, workspaceId, id))
  },
})
