import { type CronJobFields, type Db, scheduleOf } from '@belfry/db'
import { nextRuns, toId } from '@belfry/domain'
import type { NextUp } from './due-tasks.ts'

const mostCronJobs = 150
const mostOccurrences = 1_500

type Row = Pick<CronJobFields, 'name' | 'cron' | 'timezone' | 'startsAt' | 'endsAt'> & { id: string; nextRunAt: Date }

/**
 * Computes the occurrences of a workspace's cron jobs up to an instant that are not tasks yet; those that are stand among
 * the tasks. Each cron job gets an equal share of what may be computed.
 */
export async function foreseeOccurrences(
  db: Db,
  workspaceId: string,
  fromMs: number,
  toMs: number,
): Promise<{ occurrences: NextUp[]; isCapped: boolean }> {
  const text = `
    SELECT id, name, cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", next_run_at AS "nextRunAt"
    FROM cron_jobs WHERE workspace_id = $1 AND paused_at IS NULL AND next_run_at < $2
    ORDER BY next_run_at LIMIT $3`
  const { rows } = await db.query<Row>(text, [workspaceId, new Date(toMs), mostCronJobs + 1])
  const jobs = rows.slice(0, mostCronJobs)
  const share = Math.max(10, Math.floor(mostOccurrences / Math.max(1, jobs.length)))
  let isCapped = rows.length > mostCronJobs
  const occurrences = jobs.flatMap(job => {
    const after = Math.max(fromMs, job.nextRunAt.getTime()) - 1
    const all = nextRuns(scheduleOf(job), after, share).filter(({ atMs }) => atMs < toMs)
    if (all.length === share) isCapped = true
    return all.map(({ atMs }) => ({ atMs, taskId: null, cronJobId: toId('cron', job.id), name: job.name }))
  })
  return { occurrences, isCapped }
}
