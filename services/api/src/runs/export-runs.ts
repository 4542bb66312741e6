import { exportRunsQuery } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { exportTypes } from '../http/export.ts'
import { exportRunsOf } from './run-export.ts'
import { scanRuns } from './run-scan.ts'

export const exportRuns = endpoint({
  right: 'run.read',
  summary: 'Export runs as CSV or JSON Lines, newest first',
  answer: { status: 200, texts: exportTypes },
  query: exportRunsQuery,
  async handle(ctx, { caller, query }) {
    return exportRunsOf(ctx, query.format, scanRuns([caller.workspaceId], query))
  },
})
