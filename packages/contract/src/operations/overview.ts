import { host, hosts, resetHost } from '../host.ts'
import { operation } from '../operation.ts'
import { overview, overviewQuery, upcoming, upcomingQuery } from '../overview.ts'
import { searchQuery, searchResult } from '../search.ts'
import { status } from '../status.ts'

export const overviewOperations = {
  search: operation('GET', '/api/v1/scheduler/search', {
    right: 'run.read',
    summary: 'Find tasks, runs, cron jobs, labels, hosts and more by id or by a part of the name',
    description: 'Payloads are not searched. Kinds that the caller may not read are left out.',
    mayLag: true,
    query: searchQuery,
    answer: { status: 200, body: searchResult },
  }),

  getOverview: operation('GET', '/api/v1/scheduler/overview', {
    right: 'run.read',
    summary: 'Get statistics of the runs of a workspace',
    mayLag: true,
    query: overviewQuery,
    answer: { status: 200, body: overview },
  }),

  getUpcoming: operation('GET', '/api/v1/scheduler/upcoming', {
    right: 'task.read',
    summary: 'Get the upcoming tasks of a workspace, and the runs of cron jobs that are not tasks yet',
    query: upcomingQuery,
    answer: { status: 200, body: upcoming },
  }),

  listHosts: operation('GET', '/api/v1/scheduler/hosts', {
    right: 'host.read',
    summary: 'List the hosts that tasks of a workspace call, with their health',
    client: 'hosts.list',
    answer: { status: 200, body: hosts },
  }),

  getHost: operation('GET', '/api/v1/scheduler/hosts/:host', {
    right: 'host.read',
    summary: 'Read a host with its health',
    client: 'hosts.get',
    answer: { status: 200, body: host },
  }),

  pauseHost: operation('POST', '/api/v1/scheduler/hosts/:host/pause', {
    right: 'host.write',
    summary: 'Pause a host: the tasks of the workspace for it wait, except callbacks',
    client: 'hosts.pause',
    answer: { status: 200, body: host },
    refusals: ['conflict'],
  }),

  resumeHost: operation('POST', '/api/v1/scheduler/hosts/:host/resume', {
    right: 'host.write',
    summary: 'Resume a paused host, so its waiting tasks start',
    client: 'hosts.resume',
    answer: { status: 200, body: host },
  }),

  resetCircuit: operation('POST', '/api/v1/scheduler/hosts/:host/reset', {
    right: 'host.reset',
    summary: 'Close the circuit breaker of a host',
    description: '`dispatchers` is the number of dispatchers that close it.',
    client: 'hosts.reset',
    answer: { status: 202, body: resetHost },
  }),

  getStatus: operation('GET', '/api/v1/scheduler/status', {
    right: 'task.read',
    summary: 'Get whether all processes run, and what keeps tasks from running',
    client: 'status.get',
    answer: { status: 200, body: status },
  }),
}
