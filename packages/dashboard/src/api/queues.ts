import type { Queue, UpdateQueueBody } from '@belfry/contract/queue'
import { post, put, remove } from './operation.ts'
import { listOptions } from './page.ts'

export function queuesQuery(workspaceId: string) {
  const list = listOptions<Queue>(['queues', workspaceId], '/api/v1/scheduler/queues', { limit: 100 }, workspaceId)
  return { ...list, refetchInterval: 5_000 }
}

/** Creates a queue, or replaces its limits. */
export const putQueue = put('/api/v1/scheduler/queues/:queue')<Queue, UpdateQueueBody>
export const pauseQueue = post('/api/v1/scheduler/queues/:queue/pause')<Queue>
export const resumeQueue = post('/api/v1/scheduler/queues/:queue/resume')<Queue>
export const deleteQueue = remove('/api/v1/scheduler/queues/:queue')<void>
