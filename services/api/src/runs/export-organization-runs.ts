import { exportOrganizationRunsQuery, type Run } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { exportReply, exportTypes } from '../http/export.ts'
import { presentRun } from './present-run.ts'
import { runExportColumns } from './run-export-columns.ts'
import type { RunRow } from './run-row.ts'
import { scanRuns } from './run-scan.ts'
import { visibleWorkspaces } from './visible-workspaces.ts'

export const exportOrganizationRuns = endpoint({
  right: 'organization_run.read',
  summary: 'Export the runs of all workspaces that the caller may see',
  answer: { status: 200, texts: exportTypes },
  params: { org: 'org' },
  query: exportOrganizationRunsQuery,
  async handle(ctx, { caller, query }) {
    const scan = scanRuns(await visibleWorkspaces(ctx, caller, query.workspace_id), query)
    const content = { name: 'runs', format: query.format, scan, present: presentRun, columns: runExportColumns }
    return exportReply<RunRow, Run>(ctx, content)
  },
})
