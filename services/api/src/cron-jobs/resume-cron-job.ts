import { resumeCronJob as resume } from '@belfry/db'
import { expansionLookAheadMs } from '@belfry/queue'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { cronJobAfterMove } from './answer-move.ts'

export const resumeCronJob = endpoint({
  right: 'cron_job.write',
  params: { cronjob: 'cron' },
  async handle(ctx, { caller, params }) {
    const move = await resume(ctx.pool, caller.workspaceId, params.cronjob, expansionLookAheadMs)
    return ok(await cronJobAfterMove(ctx, move, caller.workspaceId, params.cronjob))
  },
})
