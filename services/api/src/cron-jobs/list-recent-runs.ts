import { type RecentRuns, recentRuns, recentRunsQuery } from '@belfry/contract'
import type { RunStatus } from '@belfry/db'
import { toId } from '@belfry/domain'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'

const maxOfEach = 24

type Row = { cronJobId: string; id: string; status: RunStatus; startedAt: Date; finishedAt: Date }

export const listRecentRuns = endpoint({
  right: 'run.read',
  summary: 'Get the latest runs of several cron jobs at once, oldest first',
  answer: { status: 200, body: recentRuns },
  query: recentRunsQuery,
  async handle(ctx, { caller, query }) {
    const ids = [...new Set(query.cronjob_id)]
    const text = `
      SELECT job.id AS "cronJobId", u.id, u.status, u.started_at AS "startedAt", u.finished_at AS "finishedAt"
      FROM unnest($2::uuid[]) AS job (id) CROSS JOIN LATERAL (
        SELECT id, status, started_at, finished_at FROM runs
        WHERE workspace_id = $1 AND cron_job_id BETWEEN job.id AND job.id
        ORDER BY cron_job_id DESC, id DESC LIMIT ${maxOfEach}
      ) u ORDER BY u.id`
    const { rows } = await ctx.pool.query<Row>(text, [caller.workspaceId, ids])
    return ok({
      data: ids.map(id => ({
        cronjob_id: toId('cron', id),
        runs: rows
          .filter(({ cronJobId }) => cronJobId === id)
          .map(({ id, status, startedAt, finishedAt }) => ({
            id: toId('run', id),
            status,
            started_at: startedAt.toISOString(),
            duration_ms: finishedAt.getTime() - startedAt.getTime(),
          })),
      })),
    } satisfies RecentRuns)
  },
})
