import { listRunsQuery, pageOf, type Run, run } from '@belfry/contract'
import { readBoundedPage } from '../http/bounded-page.ts'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { presentRun } from './present-run.ts'
import type { RunRow } from './run-row.ts'
import { scanRuns } from './run-scan.ts'

export const listRuns = endpoint({
  right: 'run.read',
  summary: 'List runs, newest first',
  answer: { status: 200, body: pageOf(run) },
  query: listRunsQuery,
  async handle(ctx, { caller, query }) {
    const { workspaceId } = caller
    const scan = scanRuns([workspaceId], query)
    return ok(await readBoundedPage<RunRow, Run>(ctx, query, scan, `runs:${workspaceId}`, presentRun))
  },
})
