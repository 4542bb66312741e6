import { scheduleOrStepBack } from '@belfry/db'
import { type DueTask, needsJob } from '@belfry/queue'
import type { Context } from './context.ts'

/** Adds the jobs of tasks that were just stored and that the promotion has passed. Without a queue it does nothing. */
export async function addJobs(
  { queue, pool, log }: Pick<Context, 'queue' | 'pool' | 'log'>,
  tasks: readonly DueTask[],
  now: Date,
): Promise<void> {
  const soon = tasks.filter(task => needsJob(task.dueAt, now.getTime()))
  if (queue === null || soon.length === 0) return
  const schedule = () => queue.schedule(soon, now.getTime())
  await scheduleOrStepBack(pool, schedule, error => log.warn({ err: error }, 'queue.away'))
}
