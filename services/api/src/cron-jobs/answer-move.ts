import type { CronJob } from '@belfry/contract'
import type { CronJobMove } from '@belfry/db'
import type { Context } from '../context.ts'
import { notFound } from '../http/not-found.ts'
import { enqueueRows } from '../tasks/enqueue.ts'
import { neverRuns } from './inspect-schedule.ts'
import { readCronJob } from './present-cron-job.ts'

/** Answers a change of a cron job: the cron job as it is now, or why it could not be changed. */
export async function cronJobAfterMove(
  ctx: Context,
  move: CronJobMove,
  workspaceId: string,
  id: string,
  body: { cron?: unknown } = {},
): Promise<CronJob> {
  if (move.kind === 'unknown') throw notFound()
  if (move.kind === 'never_runs') throw neverRuns(body)
  enqueueRows(ctx, move.expansion.tasks, move.expansion.now)
  return readCronJob(ctx, workspaceId, id)
}
