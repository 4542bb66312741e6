import { operation } from '../operation.ts'
import { pageOf } from '../page.ts'
import { listQueuesQuery, putQueueBody, queue, updateQueueBody } from '../queue.ts'

export const queuesOperations = {
  listQueues: operation('GET', '/api/v1/scheduler/queues', {
    right: 'queue.read',
    summary: 'List queues by name, with what they contain now',
    client: 'queues.list',
    query: listQueuesQuery,
    answer: { status: 200, body: pageOf(queue) },
  }),

  getQueue: operation('GET', '/api/v1/scheduler/queues/:queue', {
    right: 'queue.read',
    summary: 'Read a queue',
    client: 'queues.get',
    answer: { status: 200, body: queue },
  }),

  putQueue: operation('PUT', '/api/v1/scheduler/queues/:queue', {
    right: 'queue.write',
    summary: 'Create a queue, or replace its limits',
    description: 'An omitted limit is removed.',
    client: 'queues.put',
    body: putQueueBody,
    answer: { status: 200, body: queue },
    refusals: ['conflict'],
  }),

  updateQueue: operation('PATCH', '/api/v1/scheduler/queues/:queue', {
    right: 'queue.write',
    summary: 'Change limits of a queue',
    description: 'Omitted limits stay unchanged.',
    client: 'queues.update',
    body: updateQueueBody,
    answer: { status: 200, body: queue },
  }),

  deleteQueue: operation('DELETE', '/api/v1/scheduler/queues/:queue', {
    right: 'queue.delete',
    summary: 'Delete the settings of a queue that is not in use',
    description: 'Nothing may use the queue: no task, cron job or subscription.',
    client: 'queues.delete',
    answer: { status: 204 },
    refusals: ['queue_in_use'],
  }),

  pauseQueue: operation('POST', '/api/v1/scheduler/queues/:queue/pause', {
    right: 'queue.write',
    summary: 'Pause a queue: its tasks wait',
    client: 'queues.pause',
    answer: { status: 200, body: queue },
  }),

  resumeQueue: operation('POST', '/api/v1/scheduler/queues/:queue/resume', {
    right: 'queue.write',
    summary: 'Resume a paused queue',
    client: 'queues.resume',
    answer: { status: 200, body: queue },
  }),
}
