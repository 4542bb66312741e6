import { type DueRow, scheduleOrStepBack, toDueTask } from '@belfry/db/tasks/due-work'
import { originOfUrl } from '@belfry/domain/target-url'
import { needsJob } from '@belfry/queue'
import type { Context } from '../context.ts'

/** A task that is due, with what spares its dispatcher a query. */
export type DueTaskRow = DueRow & { workspaceId?: string; url?: string }

/**
 * Adds jobs for the tasks that are due soon, without delaying the response. Nothing depends on the jobs: dispatchers also
 * find due tasks in PostgreSQL. The workspace and the URL of a task save its dispatcher a query.
 */
export function enqueue(ctx: Context, tasks: readonly DueTaskRow[], now: Date): void {
  const { queue } = ctx
  if (queue === null) return
  const soon = tasks.filter(({ dueAt }) => needsJob(dueAt.getTime(), now.getTime()))
  if (soon.length === 0) return
  const onFailure = (err: unknown) => {
    ctx.log.warn({ err }, 'queue.away')
    ctx.metrics.queueAway()
  }
  const adding = scheduleOrStepBack(ctx.pool, () => queue.schedule(soon.map(toJob), now.getTime()), onFailure)
  runInBackground(
    ctx,
    adding.catch(err => ctx.log.warn({ err }, 'promotion.not_stepped_back')),
  )
}

function toJob({ id, dueAt, workspaceId, url }: DueTaskRow) {
  const row: Parameters<typeof toDueTask>[0] = { id, dueAt }
  if (workspaceId !== undefined) row.workspaceId = workspaceId
  if (url !== undefined) row.origin = originOfUrl(url)
  return toDueTask(row)
}

/** Removes tasks from the operators' copy of the dead-letter list, without delaying the response. */
export function hideDeadLetters(ctx: Context, taskIds: string[]): void {
  if (taskIds.length === 0 || ctx.deadLetters === null) return
  const removal = ctx.deadLetters.remove(taskIds)
  runInBackground(
    ctx,
    removal.catch(err => ctx.log.warn({ err }, 'dead_letter.still_shown')),
  )
}

// `closeContext` waits for such work.
function runInBackground({ background }: Context, work: Promise<void>): void {
  const settled = work.finally(() => background.delete(settled))
  background.add(settled)
}
