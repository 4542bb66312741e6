import { listRunsQuery, pageOf, run } from '@belfry/contract'
import type { z } from 'zod'
import type { Context } from '../context.ts'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { type Where, where } from '../http/where.ts'
import { presentRun } from './present-run.ts'
import { type RunRow, runColumns, runTables } from './run-row.ts'

export const listRuns = endpoint({
  right: 'run.read',
  summary: 'List runs, newest first',
  answer: { status: 200, body: pageOf(run) },
  query: listRunsQuery,
  async handle(ctx, { caller, query }) {
    return ok(await findRuns(ctx, caller.workspaceId, query))
  },
})

async function findRuns(ctx: Context, workspaceId: string, query: z.output<typeof listRunsQuery>) {
  const list = `runs:${workspaceId}`
  const after = readCursor(list, query)
  const filter = where()
  filter.and('u.workspace_id = ?', workspaceId)
  if (after) filter.and('u.id < ?', after)
  if (query.status) filter.and('u.status = ANY (?::run_status[])', query.status)
  if (query.task_id) filter.and('u.task_id = ANY (?::uuid[])', query.task_id)
  if (query.source) filter.and('u.source = ANY (?::task_source[])', query.source)
  if (query.cronjob_id) filter.and('t.cron_job_id = ANY (?::uuid[])', query.cronjob_id)
  if (query.topic) filter.and('r.topic = ANY (?::text[])', query.topic)
  if (query.response_status) byResponseStatus(filter, query.response_status)
  byTime(filter, query)
  const text = `SELECT ${runColumns} FROM ${runTables} WHERE ${filter.text} ORDER BY u.id DESC LIMIT ${query.limit + 1}`
  const { rows } = await ctx.pool.query<RunRow>(text, filter.values)
  return toPage(list, query, rows, presentRun)
}

// Each is a status or, as `5xx`, a hundred of them.
function byResponseStatus(filter: Where, statuses: ReadonlyArray<{ from: number; to: number }>): void {
  const ranges = statuses.map(() => 'u.response_status BETWEEN ? AND ?').join(' OR ')
  filter.and(`(${ranges})`, ...statuses.flatMap(({ from, to }) => [from, to]))
}

// The id carries the time of the claim, which is at most a few milliseconds before the start. As a range of ids the
// filter touches only the partitions and pages of that time; the start itself then decides.
function byTime(filter: Where, { from, to }: { from?: Date | undefined; to?: Date | undefined }): void {
  if (from) filter.and(`u.id >= uuid_v7_floor(?::timestamptz - interval '1 minute')`, from)
  if (from) filter.and('u.started_at >= ?', from)
  if (to) filter.and('u.id < uuid_v7_floor(?::timestamptz)', to)
  if (to) filter.and('u.started_at < ?', to)
}
