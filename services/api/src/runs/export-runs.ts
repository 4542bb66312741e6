import { operations } from '@belfry/contract/operations'
import type { Run } from '@belfry/contract/run'
import { presentRun } from '@belfry/present/present-run'
import type { RunRow } from '@belfry/present/run-row'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { type Cell, type Export, exportReply } from '../http/export.ts'
import type { Reply } from '../http/reply.ts'
import { readRuns } from './read-runs.ts'
import type { RunFilter } from './run-scan.ts'
import { visibleWorkspaces } from './visible-workspaces.ts'

export const exportRuns = endpoint(operations.exportRuns, async (ctx, { caller, query }) =>
  exportRunsOf(ctx, caller.organizationId, query.format, [caller.workspaceId], query),
)

export const exportOrganizationRuns = endpoint(operations.exportOrganizationRuns, async (ctx, { caller, query }) => {
  const workspaceIds = await visibleWorkspaces(ctx, caller, query.workspace_id)
  return exportRunsOf(ctx, caller.organizationId, query.format, workspaceIds, query)
})

/** Returns the runs of some workspaces as a file. */
function exportRunsOf(
  ctx: Context,
  organizationId: string,
  format: Export<RunRow, Run>['format'],
  workspaceIds: readonly string[],
  filter: RunFilter,
): Reply {
  const read: Export<RunRow, Run>['read'] = (after, limit) => readRuns(ctx, workspaceIds, filter, after, limit)
  return exportReply<RunRow, Run>(organizationId, { name: 'runs', format, read, present: presentRun, columns })
}

const columns: Readonly<Record<string, (run: Run) => Cell>> = {
  id: run => run.id,
  workspace_id: run => run.workspace_id,
  task_id: run => run.task_id,
  task_name: run => run.task_name,
  source: run => run.source,
  cronjob_id: run => run.cronjob_id,
  cronjob_timezone: run => run.cronjob_timezone,
  topic: run => run.topic,
  attempt: run => run.attempt,
  status: run => run.status,
  scheduled_at: run => run.scheduled_at,
  started_at: run => run.started_at,
  finished_at: run => run.finished_at,
  duration_ms: run => run.duration_ms,
  lag_ms: run => run.lag_ms,
  waited_for: run => run.waited_for,
  dns_ms: run => run.timings?.dns_ms ?? null,
  connect_ms: run => run.timings?.connect_ms ?? null,
  tls_ms: run => run.timings?.tls_ms ?? null,
  first_byte_ms: run => run.timings?.first_byte_ms ?? null,
  url: run => run.url,
  method: run => run.method,
  response_status: run => run.response_status,
  error_code: run => run.error?.code ?? null,
  error_message: run => run.error?.message ?? null,
  note: run => run.note,
}
