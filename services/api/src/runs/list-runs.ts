import { encodeCursor } from '@belfry/contract/page'
import {
  type ListRunsQuery,
  listOrganizationRunsQuery,
  listRunsQuery,
  type RunPage,
  runPage,
} from '@belfry/contract/run'
import { presentRun } from '@belfry/present/present-run'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { readCursor } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { readRuns } from './read-runs.ts'
import { visibleWorkspaces } from './visible-workspaces.ts'

export const listRuns = endpoint({
  right: 'run.read',
  summary: 'List runs, newest first',
  mayLag: true,
  answer: { status: 200, body: runPage },
  refusals: ['log_storage_unavailable'],
  query: listRunsQuery,
  async handle(ctx, { caller, query }) {
    const { workspaceId } = caller
    return ok(await readPage(ctx, [workspaceId], query, `runs:${workspaceId}`))
  },
})

export const listOrganizationRuns = endpoint({
  right: 'organization_run.read',
  summary: 'List the runs of all workspaces that the caller may see, newest first',
  mayLag: true,
  answer: { status: 200, body: runPage },
  refusals: ['log_storage_unavailable'],
  params: { org: 'org' },
  query: listOrganizationRunsQuery,
  async handle(ctx, { caller, query }) {
    const workspaceIds = await visibleWorkspaces(ctx, caller, query.workspace_id)
    // A cursor belongs to its caller: other callers see other workspaces.
    const list = `runs:${caller.organizationId}:${caller.user.userId}`
    return ok(await readPage(ctx, workspaceIds, query, list))
  },
})

async function readPage(ctx: Context, workspaceIds: string[], query: ListRunsQuery, list: string): Promise<RunPage> {
  const { rows, next, isFromStorage } = await readRuns(ctx, workspaceIds, query, readCursor(list, query), query.limit)
  const nextCursor = next === null ? null : encodeCursor(list, query, next)
  return { data: rows.map(presentRun), next_cursor: nextCursor, from_storage: isFromStorage }
}
