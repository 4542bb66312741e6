import { queueNameForm, queueNameRule } from '@belfry/domain/queue-name'
import { z } from 'zod'
import { changesOf, integer, textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { pageFields, pageOf } from './page.ts'
import { millisecondsField, orNull, shownNumber, textOrNull, timeOrNull, timestampField } from './response-fields.ts'
import { line, matching } from './text-rules.ts'

const queueName = matching(
  {
    pattern: queueNameForm.source,
    maxLength: 128,
    description: 'The name of a queue. A queue exists from the first use of its name.',
    examples: ['customer-42'],
  },
  'invalid_queue_name',
  queueNameRule,
)

const rateLimit = z
  .strictObject({
    count: integer(1, 10_000).meta({ examples: [100] }),
    period_ms: integer(100, 86_400_000).meta({ examples: [60_000] }),
  })
  .meta({
    id: 'RateLimit',
    description: 'At most `count` attempts start within any period of this length, by PostgreSQL’s clock.',
  })

const limits = {
  max_concurrent: integer(1, 1_000)
    .nullable()
    .meta({
      description: 'Attempts in flight at a time, over all dispatchers, 1 to 1,000. Null: any number.',
      examples: [3],
    }),
  rate_limit: rateLimit.nullable(),
  ordered: z.boolean().meta({
    description:
      'One task at a time, in the order of `execute_at`, then creation. The next task waits for all retries of the one before.',
    examples: [false],
  }),
}

/** The body that creates or replaces a queue. An omitted limit is removed. */
export const putQueueBody = z.strictObject({
  max_concurrent: limits.max_concurrent.default(null),
  rate_limit: limits.rate_limit.default(null),
  ordered: limits.ordered.default(false),
})

/** The limits of a queue that a request sets. Omitted limits stay unchanged. */
export const updateQueueBody = z.strictObject(changesOf(putQueueBody.shape))

export type UpdateQueueBody = z.infer<typeof updateQueueBody>

/** A queue by its name, or with limits to set: the last writer wins. */
export const queueField = z
  .union([textField(queueName), z.strictObject({ name: textField(queueName), ...updateQueueBody.shape })])
  .meta({
    id: 'QueueRequest',
    description: 'The name of the queue that limits the attempts, alone or with limits to set.',
  })

export type QueueField = z.infer<typeof queueField>

export const queueNameField = textOrNull('The name of its queue.')

export const listQueuesQuery = z.strictObject({
  name: textField(line(128)).meta({ description: 'Only names that start with this text.' }).optional(),
  ...pageFields,
})

export const queue = namedObject('Queue', {
  name: z.string().meta({ examples: ['customer-42'] }),
  ...limits,
  paused_at: timeOrNull('Since when no task starts; null unless it is paused.'),
  waiting: shownNumber('Tasks that are due and not started; counted up to 10,000.', 0),
  in_flight: shownNumber('Attempts in flight.', 1),
  oldest_due_ms: orNull(millisecondsField(1_200), {
    description: 'For how long the first waiting task has been due.',
  }),
  created_at: timestampField(),
  updated_at: timestampField(),
})

export type Queue = z.infer<typeof queue>

export const queuesOperations = {
  listQueues: operation('GET', '/api/v1/scheduler/queues', {
    right: 'queue.read',
    summary: 'List queues by name, with what they contain now',
    client: 'queues.list',
    query: listQueuesQuery,
    response: { status: 200, body: pageOf(queue) },
  }),

  getQueue: operation('GET', '/api/v1/scheduler/queues/:queue', {
    right: 'queue.read',
    summary: 'Read a queue',
    client: 'queues.get',
    response: { status: 200, body: queue },
  }),

  putQueue: operation('PUT', '/api/v1/scheduler/queues/:queue', {
    right: 'queue.write',
    summary: 'Create a queue, or replace its limits',
    description: 'An omitted limit is removed.',
    client: 'queues.put',
    body: putQueueBody,
    response: { status: 200, body: queue },
    errors: ['conflict'],
  }),

  updateQueue: operation('PATCH', '/api/v1/scheduler/queues/:queue', {
    right: 'queue.write',
    summary: 'Change limits of a queue',
    description: 'Omitted limits stay unchanged.',
    client: 'queues.update',
    body: updateQueueBody,
    response: { status: 200, body: queue },
  }),

  deleteQueue: operation('DELETE', '/api/v1/scheduler/queues/:queue', {
    right: 'queue.delete',
    summary: 'Delete the settings of a queue that is not in use',
    description: 'Nothing may use the queue: no task, cron job or subscription.',
    client: 'queues.delete',
    errors: ['queue_in_use'],
  }),

  pauseQueue: operation('POST', '/api/v1/scheduler/queues/:queue/pause', {
    right: 'queue.write',
    summary: 'Pause a queue: its tasks wait',
    client: 'queues.pause',
    response: { status: 200, body: queue },
  }),

  resumeQueue: operation('POST', '/api/v1/scheduler/queues/:queue/resume', {
    right: 'queue.write',
    summary: 'Resume a paused queue',
    client: 'queues.resume',
    response: { status: 200, body: queue },
  }),
}
