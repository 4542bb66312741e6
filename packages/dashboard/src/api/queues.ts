import type { Queue, UpdateQueueBody } from '@belfry/contract/queue'
import { call } from './call.ts'
import { listOptions } from './page.ts'

const base = '/api/v1/scheduler/queues'

export function queuesQuery(workspaceId: string) {
  return { ...listOptions<Queue>(['queues', workspaceId], base, { limit: 100 }, workspaceId), refetchInterval: 5_000 }
}

/** Creates a queue, or replaces its limits. */
export function putQueue(workspaceId: string, name: string, body: UpdateQueueBody): Promise<Queue> {
  return call('PUT', `${base}/${encodeURIComponent(name)}`, { body, workspaceId })
}

export function pauseQueue(workspaceId: string, name: string, isPaused: boolean): Promise<Queue> {
  return call('POST', `${base}/${encodeURIComponent(name)}/${isPaused ? 'pause' : 'resume'}`, { workspaceId })
}

export function deleteQueue(workspaceId: string, name: string): Promise<void> {
  return call('DELETE', `${base}/${encodeURIComponent(name)}`, { workspaceId })
}
