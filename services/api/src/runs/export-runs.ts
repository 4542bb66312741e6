import { exportRunsQuery, type Run } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { exportReply, exportTypes } from '../http/export.ts'
import { presentRun } from './present-run.ts'
import { runExportColumns } from './run-export-columns.ts'
import type { RunRow } from './run-row.ts'
import { scanRuns } from './run-scan.ts'

export const exportRuns = endpoint({
  right: 'run.read',
  summary: 'Export runs as CSV or JSON Lines, newest first',
  answer: { status: 200, texts: exportTypes },
  query: exportRunsQuery,
  async handle(ctx, { caller, query }) {
    const scan = scanRuns([caller.workspaceId], query)
    const content = { name: 'runs', format: query.format, scan, present: presentRun, columns: runExportColumns }
    return exportReply<RunRow, Run>(ctx, content)
  },
})
