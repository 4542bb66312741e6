import { operations } from '@belfry/contract/operations'
import { encodeCursor } from '@belfry/contract/page'
import type { ListRunsQuery, Run, RunDetail, RunPage } from '@belfry/contract/run'
import { notFound } from '@belfry/domain/app-error'
import { decide } from '@belfry/domain/permissions'
import { requestBody } from '@belfry/domain/request-body'
import { payloadOf } from '@belfry/present/payload-of'
import { presentResponse, presentRun, readText } from '@belfry/present/present-run'
import type { RunDetailRow, RunRow } from '@belfry/present/run-row'
import { authorize, authorizeAgain, type CallerOf } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint, type Input } from '../endpoint.ts'
import { type Columns, exportResponse, members } from '../http/export.ts'
import { readCursor } from '../http/page.ts'
import type { ApiResponse } from '../http/response.ts'
import { readRuns, readStoredRun } from './read-runs.ts'
import { joinRequests, runColumns } from './run-scan.ts'

export const listRuns = endpoint(operations.listRuns, async (ctx, { caller, query }) => {
  return readPage(ctx, [caller.workspaceId], query, `runs:${caller.workspaceId}`)
})

export const listOrganizationRuns = endpoint(operations.listOrganizationRuns, async (ctx, { caller, query }) => {
  const workspaceIds = await visibleWorkspaces(ctx, caller, query.workspace_id)
  // A cursor belongs to its caller: other callers see other workspaces.
  const list = `runs:${caller.organizationId}:${caller.user.userId}`
  return readPage(ctx, workspaceIds, query, list)
})

async function readPage(ctx: Context, workspaceIds: string[], query: ListRunsQuery, list: string): Promise<RunPage> {
  const { rows, next, isFromStorage } = await readRuns(ctx, workspaceIds, query, readCursor(list, query), query.limit)
  const nextCursor = next === null ? null : encodeCursor(list, query, next)
  return { data: rows.map(presentRun), next_cursor: nextCursor, from_storage: isFromStorage }
}

export const getRun = endpoint(operations.getRun, async (ctx, { caller, params }) => {
  const text = `
      SELECT ${runColumns}, r.payload, r.is_report AS "isReport", r.content_type AS "contentType",
             u.request_headers AS "requestHeaders", u.response_headers AS "responseHeaders",
             u.response_body AS "responseBody", u.response_bytes AS "responseBytes",
             u.response_truncated AS "responseTruncated"
      FROM runs u ${joinRequests} WHERE u.workspace_id = $1 AND u.id = $2`
  const { rows } = await ctx.pool.query<RunDetailRow>(text, [caller.workspaceId, params.run])
  const row = rows[0] ?? (await readStoredRun(ctx, caller.workspaceId, params.run))
  if (!row) throw notFound()
  return { ...presentRun(row), request: presentRequest(row), response: presentResponse(row) }
})

// The request cannot change once its task has started, so the task's payload is the body that was sent.
function presentRequest(row: RunDetailRow): RunDetail['request'] {
  const headers = JSON.parse(row.requestHeaders ?? '{}')
  const payload = payloadOf(row, row.taskId, headers['X-Belfry-Scheduled-At'])
  const sent = { url: row.url, method: row.method, headers }
  if (payload === null) return { ...sent, body: null, body_encoding: 'utf8', body_truncated: false }
  if (row.contentType === null) {
    return { ...sent, body: requestBody(payload, headers), body_encoding: 'utf8', body_truncated: false }
  }
  const text = readText(Buffer.from(payload, 'base64'))
  const body_encoding = text === null ? 'base64' : 'utf8'
  return { ...sent, body: text ?? payload, body_encoding, body_truncated: false }
}

export const exportRuns = endpoint(operations.exportRuns, async (ctx, input) => {
  const check = () => authorizeAgain(ctx, input.request, 'run.read')
  return exportRunsOf(ctx, input, [input.caller.workspaceId], check)
})

export const exportOrganizationRuns = endpoint(operations.exportOrganizationRuns, async (ctx, input) => {
  const { request, params, query } = input
  const workspaceIds = await visibleWorkspaces(ctx, input.caller, query.workspace_id)
  const check = async () => {
    const caller = await authorize(ctx, request, 'organization_run.read', params)
    const visible = await visibleWorkspaces(ctx, caller, query.workspace_id)
    if (!workspaceIds.every(id => visible.includes(id))) throw notFound()
  }
  return exportRunsOf(ctx, input, workspaceIds, check)
})

type ExportInput = Pick<Input<typeof operations.exportRuns>, 'query' | 'request'> & {
  caller: { organizationId: string }
}

function exportRunsOf(
  ctx: Context,
  { caller, query, request }: ExportInput,
  workspaceIds: readonly string[],
  check: () => Promise<unknown>,
): ApiResponse {
  const { format, ...filter } = query
  const read = (after: string | undefined, limit: number) => readRuns(ctx, workspaceIds, filter, after, limit)
  const content = { name: 'runs', format, read, present: presentRun, columns, check }
  return exportResponse<RunRow, Run>(request, caller.organizationId, content)
}

const columns: Columns<Run> = {
  ...members('id', 'workspace_id', 'task_id', 'task_name', 'source', 'cronjob_id', 'cronjob_timezone', 'topic'),
  labels: run => run.labels.join(' '),
  ...members('attempt', 'status', 'scheduled_at', 'started_at', 'finished_at', 'duration_ms', 'lag_ms', 'waited_for'),
  dns_ms: run => run.timings?.dns_ms ?? null,
  connect_ms: run => run.timings?.connect_ms ?? null,
  tls_ms: run => run.timings?.tls_ms ?? null,
  first_byte_ms: run => run.timings?.first_byte_ms ?? null,
  ...members('url', 'method', 'response_status'),
  error_code: run => run.error?.code ?? null,
  error_message: run => run.error?.message ?? null,
  ...members('note'),
}

/**
 * Returns the workspaces of an organization whose runs the caller may read, newest first.
 * @param among - Restricts the result to these. Workspaces that are invisible or do not exist are ignored.
 */
export async function visibleWorkspaces(
  ctx: Context,
  { organizationId, actor, user }: CallerOf<'organization_run.read'>,
  among?: readonly string[],
): Promise<string[]> {
  const seesAll = decide(actor, 'run.read').allowed
  const rows = await ctx.prisma.workspace.findMany({
    where: {
      organizationId,
      deletedAt: null,
      ...(among ? { id: { in: [...among] } } : {}),
      ...(seesAll ? {} : { members: { some: { userId: user.userId } } }),
    },
    select: { id: true },
    orderBy: { id: 'desc' },
  })
  return rows.map(({ id }) => id)
}
