import { type RunFailures, runFailures, runFailuresQuery } from '@belfry/contract/run-failures'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { hostOfRequest } from '@belfry/db/tasks/task-row'
import { toId } from '@belfry/domain/id'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { hasStoredRuns } from './read-runs.ts'

const maxFailures = 10_000
const maxGroups = 50

type Span = { from?: Date | undefined; to?: Date | undefined }

type Row = {
  host: string
  errorCode: string
  responseStatus: number | null
  errorMessage: string | null
  count: number
  firstAt: Date
  lastAt: Date
  lastRunId: string
  taskName: string
  counted: number
}

export const listFailures = endpoint({
  right: 'run.read',
  summary: 'Group failed runs by host, error and response status',
  mayLag: true,
  answer: { status: 200, body: runFailures },
  query: runFailuresQuery,
  async handle(ctx, { caller, query }) {
    const failures = await groupFailures(ctx.pool, caller.workspaceId, query)
    const isPartial = failures.is_partial || (await hasStoredRuns(ctx, caller.workspaceId, query))
    return ok({ ...failures, is_partial: isPartial })
  },
})

/** Groups the latest failed runs of a span. Reads them along the index of failures. */
export async function groupFailures(
  db: Db,
  workspaceId: string,
  { from, to }: Span,
  max = maxFailures,
): Promise<RunFailures> {
  const text = `
    WITH latest AS MATERIALIZED (
      SELECT id, task_id, started_at, response_status, error_code, error_message FROM runs
      WHERE workspace_id = $1 AND status >= 'failed'
        AND id >= uuid_v7_floor(coalesce($2, '2020-01-01'::timestamptz) - interval '1 minute')
        AND id < uuid_v7_floor(coalesce($3, now() + interval '1 day'))
      ORDER BY status DESC, id DESC LIMIT $4
    ), failures AS MATERIALIZED (
      SELECT * FROM latest
      WHERE ($2::timestamptz IS NULL OR started_at >= $2) AND ($3::timestamptz IS NULL OR started_at < $3)
      ORDER BY id DESC LIMIT $4 - 1
    ), groups AS (
      SELECT ${hostOfRequest} AS host, coalesce(f.error_code, '') AS error_code, f.response_status,
             count(*)::int AS count, min(f.started_at) AS first_at, max(f.started_at) AS last_at,
             (array_agg(f.id ORDER BY f.id DESC))[1] AS last_id
      FROM failures f JOIN task_requests r ON r.task_id = f.task_id GROUP BY 1, 2, 3
    )
    SELECT g.host, g.error_code AS "errorCode", g.response_status AS "responseStatus", f.error_message AS "errorMessage",
           g.count, g.first_at AS "firstAt", g.last_at AS "lastAt", g.last_id AS "lastRunId", r.name AS "taskName",
           (SELECT count(*) FROM latest)::int AS counted
    FROM groups g JOIN failures f ON f.id = g.last_id JOIN task_requests r ON r.task_id = f.task_id
    ORDER BY g.count DESC, g.last_at DESC LIMIT ${maxGroups}`
  const { rows } = await db.query<Row>(text, [workspaceId, from ?? null, to ?? null, max + 1])
  const isPartial = (rows[0]?.counted ?? 0) > max
  return {
    data: rows.map(row => ({
      host: row.host,
      error_code: row.errorCode,
      response_status: row.responseStatus,
      error_message: row.errorMessage ?? '',
      count: row.count,
      first_at: row.firstAt.toISOString(),
      last_at: row.lastAt.toISOString(),
      last_run_id: toId('run', row.lastRunId),
      task_name: row.taskName,
    })),
    counted: Math.min(rows[0]?.counted ?? 0, max),
    is_partial: isPartial,
  }
}
