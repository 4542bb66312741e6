import { exportOrganizationRunsQuery, exportRunsQuery, exportTypes } from '../export.ts'
import { operation } from '../operation.ts'
import { listOrganizationRunsQuery, listRunsQuery, runDetail, runPage } from '../run.ts'
import { runCounts, runCountsQuery } from '../run-counts.ts'
import { failureStateBody, runFailures, runFailuresQuery } from '../run-failures.ts'

export const runsOperations = {
  listRuns: operation('GET', '/api/v1/scheduler/runs', {
    right: 'run.read',
    summary: 'List runs, newest first',
    client: 'runs.list',
    mayLag: true,
    query: listRunsQuery,
    answer: { status: 200, body: runPage },
    refusals: ['log_storage_unavailable'],
  }),

  exportRuns: operation('GET', '/api/v1/scheduler/runs/export', {
    right: 'run.read',
    summary: 'Export runs as CSV or JSON Lines, newest first',
    description: 'The file may have any size.',
    client: 'runs.export',
    mayLag: true,
    query: exportRunsQuery,
    answer: { status: 200, texts: exportTypes },
  }),

  streamRuns: operation('GET', '/api/v1/scheduler/runs/stream', {
    right: 'run.read',
    summary: 'Follow new runs as server-sent events',
    description: 'A run is sent about a second after its end.',
    client: 'runs.tail',
    answer: { status: 200, texts: ['text/event-stream'] },
  }),

  listFailures: operation('GET', '/api/v1/scheduler/runs/failures', {
    right: 'run.read',
    summary: 'Group failed runs by host, error and response status',
    client: 'runs.failures',
    mayLag: true,
    query: runFailuresQuery,
    answer: { status: 200, body: runFailures },
  }),

  setFailureState: operation('PUT', '/api/v1/scheduler/runs/failures', {
    right: 'host.write',
    summary: 'Ignore or resolve a group of failed runs, or open it again',
    body: failureStateBody,
    answer: { status: 204 },
  }),

  countRunsOverTime: operation('GET', '/api/v1/scheduler/runs/counts', {
    right: 'run.read',
    summary: 'Count the runs of a time by outcome',
    description: 'Default: the last 24 hours, in steps of 30 minutes.',
    client: 'runs.counts',
    mayLag: true,
    query: runCountsQuery,
    answer: { status: 200, body: runCounts },
  }),

  getRun: operation('GET', '/api/v1/scheduler/runs/:run', {
    right: 'run.read',
    summary: 'Read a run with its request and response',
    client: 'runs.get',
    answer: { status: 200, body: runDetail },
    refusals: ['log_storage_unavailable'],
  }),

  listOrganizationRuns: operation('GET', '/api/v1/organizations/:org/runs', {
    right: 'organization_run.read',
    summary: 'List the runs of all workspaces that the caller may see, newest first',
    client: 'organizations.runs',
    mayLag: true,
    query: listOrganizationRunsQuery,
    answer: { status: 200, body: runPage },
    refusals: ['log_storage_unavailable'],
  }),

  exportOrganizationRuns: operation('GET', '/api/v1/organizations/:org/runs/export', {
    right: 'organization_run.read',
    summary: 'Export the runs of all workspaces that the caller may see',
    mayLag: true,
    query: exportOrganizationRunsQuery,
    answer: { status: 200, texts: exportTypes },
  }),

  streamOrganizationRuns: operation('GET', '/api/v1/organizations/:org/runs/stream', {
    right: 'organization_run.read',
    summary: 'Follow new runs of all workspaces that the caller may see',
    answer: { status: 200, texts: ['text/event-stream'] },
  }),
}
