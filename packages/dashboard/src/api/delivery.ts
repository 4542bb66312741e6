import type { Host, Hosts } from '@belfry/contract/host'
import type { Overview, OverviewRange, Upcoming } from '@belfry/contract/overview'
import type { Queue, UpdateQueueBody } from '@belfry/contract/queue'
import type { SearchResult } from '@belfry/contract/search'
import type { Status } from '@belfry/contract/status'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { post, put, remove } from './operation.ts'
import { listOptions, objectOptions } from './page.ts'

export function hostsQuery(workspaceId: string) {
  const read = objectOptions<Hosts>(['hosts', workspaceId], '/api/v1/scheduler/hosts', workspaceId)
  return queryOptions({ ...read, refetchInterval: 5_000 })
}

export const pauseHost = post('/api/v1/scheduler/hosts/:host/pause')<Host>
export const resumeHost = post('/api/v1/scheduler/hosts/:host/resume')<Host>
/** Closes the circuit breaker of a host in every dispatcher. */
export const resetCircuit = post('/api/v1/scheduler/hosts/:host/reset')<void>

export function overviewQuery(workspaceId: string, range: OverviewRange) {
  const key = ['overview', workspaceId, range]
  const read = objectOptions<Overview>(key, '/api/v1/scheduler/overview', workspaceId, { range })
  return queryOptions({ ...read, refetchInterval: 5_000, placeholderData: keepPreviousData })
}

export function upcomingQuery(workspaceId: string) {
  const read = objectOptions<Upcoming>(['upcoming', workspaceId], '/api/v1/scheduler/upcoming', workspaceId)
  return queryOptions({ ...read, refetchInterval: 30_000 })
}

export function queuesQuery(workspaceId: string) {
  const list = listOptions<Queue>(['queues', workspaceId], '/api/v1/scheduler/queues', { limit: 100 }, workspaceId)
  return { ...list, refetchInterval: 5_000 }
}

/** Creates a queue, or replaces its limits. */
export const putQueue = put('/api/v1/scheduler/queues/:queue')<Queue, UpdateQueueBody>
export const pauseQueue = post('/api/v1/scheduler/queues/:queue/pause')<Queue>
export const resumeQueue = post('/api/v1/scheduler/queues/:queue/resume')<Queue>
export const deleteQueue = remove('/api/v1/scheduler/queues/:queue')<void>

const minLength = 2

/** Finds tasks, cron jobs, runs, hosts and topics by id or by a part of the name. */
export function searchQuery(workspaceId: string | undefined, text: string) {
  const q = text.trim()
  return queryOptions({
    ...objectOptions<SearchResult>(['search', workspaceId, q], '/api/v1/scheduler/search', workspaceId, { q }),
    enabled: workspaceId !== undefined && q.length >= minLength && q.length <= 200,
    placeholderData: keepPreviousData,
  })
}

/** Whether Belfry delivers. Asked every three seconds, so a banner can say within ten seconds that it does not. */
export function statusQuery(workspaceId: string) {
  const read = objectOptions<Status>(['status', workspaceId], '/api/v1/scheduler/status', workspaceId)
  return queryOptions({ ...read, refetchInterval: 3_000, staleTime: 0, retry: false })
}
