import { listOrganizationRunsQuery, listRunsQuery, pageOf, type Run, run } from '@belfry/contract'
import { readBoundedPage } from '../http/bounded-page.ts'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { presentRun } from './present-run.ts'
import type { RunRow } from './run-row.ts'
import { scanRuns } from './run-scan.ts'
import { visibleWorkspaces } from './visible-workspaces.ts'

export const listRuns = endpoint({
  right: 'run.read',
  summary: 'List runs, newest first',
  mayLag: true,
  answer: { status: 200, body: pageOf(run) },
  query: listRunsQuery,
  async handle(ctx, { caller, query }) {
    const { workspaceId } = caller
    const scan = scanRuns([workspaceId], query)
    return ok(await readBoundedPage<RunRow, Run>(ctx, query, scan, `runs:${workspaceId}`, presentRun))
  },
})

export const listOrganizationRuns = endpoint({
  right: 'organization_run.read',
  summary: 'List the runs of all workspaces that the caller may see, newest first',
  mayLag: true,
  answer: { status: 200, body: pageOf(run) },
  params: { org: 'org' },
  query: listOrganizationRunsQuery,
  async handle(ctx, { caller, query }) {
    const workspaceIds = await visibleWorkspaces(ctx, caller, query.workspace_id)
    // A cursor belongs to its caller: other callers see other workspaces.
    const list = `runs:${caller.organizationId}:${caller.user.userId}`
    return ok(await readBoundedPage<RunRow, Run>(ctx, query, scanRuns(workspaceIds, query), list, presentRun))
  },
})
