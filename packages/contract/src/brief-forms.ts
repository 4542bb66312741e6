import type { ActionIn } from '@belfry/domain/permissions'
import type { z } from 'zod'
import {
  bulkOperation,
  cancelledTasks,
  deadLetterOperation,
  discardedDeadLetters,
  replayedDeadLetters,
  stoppedTasks,
  taskOperation,
} from './bulk-operation.ts'
import { connection } from './connection.ts'
import { cronJob, cronJobBrief } from './cron-job.ts'
import { publishedEvent, publishedEventBrief } from './event.ts'
import { integration } from './integration.ts'
import { queue } from './queue.ts'
import { secret, signingSecret, subscriptionSecret } from './secret.ts'
import { subscription, subscriptionBrief } from './subscription.ts'
import { task, taskBrief } from './task.ts'
import { batchAnswer, batchBrief } from './task-batch.ts'

type ReadRight = ActionIn<'workspace'>

/** The part of a body that a caller without `right` gets. `body` is a schema that strips what it does not name. */
export type Brief = { right: ReadRight | ((whole: never) => ReadRight); body: z.ZodType }

const named = { name: true, created_at: true } as const
const ofSecret = { id: true, created_at: true, expires_at: true } as const
const ofOperation = { id: true, action: true, status: true, created_at: true } as const
const ending = taskOperation.pick(ofOperation).meta({ id: 'TaskOperationBrief' })
const settling = deadLetterOperation.pick(ofOperation).meta({ id: 'DeadLetterOperationBrief' })

/** Returns the right to read an operation on many tasks. */
export function rightToRead({ action }: Pick<z.infer<typeof bulkOperation>, 'action'>) {
  return action === 'cancel' || action === 'stop' ? 'task.read' : 'dead_letter.read'
}

/** The brief form of each thing that an endpoint shows to a caller who may change it and need not read it. */
const briefForms = new Map<z.ZodType, Brief>([
  [task, { right: 'task.read', body: taskBrief }],
  [batchAnswer, { right: 'task.read', body: batchBrief }],
  [publishedEvent, { right: 'task.read', body: publishedEventBrief }],
  [cronJob, { right: 'cron_job.read', body: cronJobBrief }],
  [subscription, { right: 'subscription.read', body: subscriptionBrief }],
  [queue, { right: 'queue.read', body: queue.pick(named).meta({ id: 'QueueBrief' }) }],
  [secret, { right: 'secret.read', body: secret.pick(named).meta({ id: 'SecretBrief' }) }],
  [connection, { right: 'connection.read', body: connection.pick(named).meta({ id: 'ConnectionBrief' }) }],
  [
    integration,
    { right: 'integration.read', body: integration.pick({ id: true, ...named }).meta({ id: 'IntegrationBrief' }) },
  ],
  [
    signingSecret,
    { right: 'signing_secret.read', body: signingSecret.pick(ofSecret).meta({ id: 'SigningSecretBrief' }) },
  ],
  [
    subscriptionSecret,
    { right: 'signing_secret.read', body: subscriptionSecret.pick(ofSecret).meta({ id: 'SubscriptionSecretBrief' }) },
  ],
  [bulkOperation, { right: rightToRead, body: bulkOperation.pick(ofOperation).meta({ id: 'BulkOperationBrief' }) }],
  [taskOperation, { right: 'task.read', body: ending }],
  [cancelledTasks, { right: 'task.read', body: cancelledTasks.extend({ operation: ending.nullable() }) }],
  [stoppedTasks, { right: 'task.read', body: stoppedTasks.extend({ operation: ending.nullable() }) }],
  [deadLetterOperation, { right: 'dead_letter.read', body: settling }],
  [
    replayedDeadLetters,
    { right: 'dead_letter.read', body: replayedDeadLetters.extend({ operation: settling.nullable() }) },
  ],
  [
    discardedDeadLetters,
    { right: 'dead_letter.read', body: discardedDeadLetters.extend({ operation: settling.nullable() }) },
  ],
])

/** Returns the brief form of the answer to callers with a right; undefined if the right is to read what it shows. */
export function briefFormOf(body: z.ZodType | undefined, right: string): Brief | undefined {
  return body && !right.endsWith('.read') ? briefForms.get(body) : undefined
}
