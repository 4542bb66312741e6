import { operations } from '@belfry/contract/operations'
import { encodeCursor } from '@belfry/contract/page'
import type { ListRunsQuery, RunDetail, RunPage } from '@belfry/contract/run'
import { requestBody } from '@belfry/domain/request-body'
import { payloadOf } from '@belfry/present/payload-of'
import { presentResponse, presentRun, readText } from '@belfry/present/present-run'
import type { RunDetailRow } from '@belfry/present/run-row'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { readCursor } from '../http/page.ts'
import { notFound } from '../http/refusals.ts'
import { readStoredRun } from './read-parts.ts'
import { readRuns } from './read-runs.ts'
import { joinRequests, runColumns } from './run-row.ts'
import { visibleWorkspaces } from './visible-workspaces.ts'

export const listRuns = endpoint(operations.listRuns, async (ctx, { caller, query }) => {
  const { workspaceId } = caller
  return readPage(ctx, [workspaceId], query, `runs:${workspaceId}`)
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
  return presentRunDetail(row)
})

function presentRunDetail(row: RunDetailRow): RunDetail {
  return { ...presentRun(row), request: presentRequest(row), response: presentResponse(row) }
}

// The request cannot change once its task has started, so the task's payload is the body that was sent.
function presentRequest(row: RunDetailRow): RunDetail['request'] {
  const payload = payloadOf(row)
  const headers = JSON.parse(row.requestHeaders ?? '{}')
  const sent = { url: row.url, method: row.method, headers }
  if (payload === null) return { ...sent, body: null, body_encoding: 'utf8', body_truncated: false }
  if (row.contentType === null) {
    return { ...sent, body: requestBody(payload, headers), body_encoding: 'utf8', body_truncated: false }
  }
  const text = readText(Buffer.from(payload, 'base64'))
  const body_encoding = text === null ? 'base64' : 'utf8'
  return { ...sent, body: text ?? payload, body_encoding, body_truncated: false }
}
