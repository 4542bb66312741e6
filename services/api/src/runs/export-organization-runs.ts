import { exportOrganizationRunsQuery } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { exportTypes } from '../http/export.ts'
import { exportRunsOf } from './run-export.ts'
import { scanRuns } from './run-scan.ts'
import { visibleWorkspaces } from './visible-workspaces.ts'

export const exportOrganizationRuns = endpoint({
  right: 'organization_run.read',
  summary: 'Export the runs of all workspaces that the caller may see',
  answer: { status: 200, texts: exportTypes },
  params: { org: 'org' },
  query: exportOrganizationRunsQuery,
  async handle(ctx, { caller, query }) {
    const workspaceIds = await visibleWorkspaces(ctx, caller, query.workspace_id)
    return exportRunsOf(ctx, query.format, scanRuns(workspaceIds, query))
  },
})
