import type { ActionIn } from '@belfry/domain/permissions'
import { z } from 'zod'
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
import { cronJob } from './cron-job.ts'
import { publishedEvent, publishedEventBrief } from './event.ts'
import { host } from './host.ts'
import { integration } from './integration.ts'
import { queue } from './queue.ts'
import { secret, signingSecret, subscriptionSecret } from './secret.ts'
import { subscription } from './subscription.ts'
import { task, taskBrief } from './task.ts'
import { batchAnswer, batchBrief } from './task-batch.ts'

type ReadRight = ActionIn<'workspace'>

/** The part of a body that a caller without `right` gets. `body` is a schema that strips what it does not name. */
export type Brief = { right: ReadRight | ((whole: never) => ReadRight); body: z.ZodType }

/** Returns the right to read an operation on many tasks. */
export function rightToRead({ action }: Pick<z.infer<typeof bulkOperation>, 'action'>) {
  return action === 'cancel' || action === 'stop' ? 'task.read' : 'dead_letter.read'
}

const ofSecret = ['id', 'created_at', 'expires_at'] as const
const ofOperation = ['id', 'action', 'status', 'created_at'] as const
const ending = pick(taskOperation, ...ofOperation)
const ended = { operation: ending.nullable() }
const settling = pick(deadLetterOperation, ...ofOperation)
const settled = { operation: settling.nullable() }

/** The brief form of each thing that an endpoint shows to a caller who may change it and need not read it. */
const briefForms = new Map<z.ZodType, Brief>([
  [task, { right: 'task.read', body: taskBrief }],
  [batchAnswer, { right: 'task.read', body: batchBrief }],
  [publishedEvent, { right: 'task.read', body: publishedEventBrief }],
  [cronJob, { right: 'cron_job.read', body: pick(cronJob, 'id', 'status', 'created_at') }],
  [subscription, { right: 'subscription.read', body: pick(subscription, 'id', 'active', 'created_at') }],
  [host, { right: 'host.read', body: pick(host, 'host', 'paused_at') }],
  [queue, { right: 'queue.read', body: pick(queue, 'name', 'created_at') }],
  [secret, { right: 'secret.read', body: pick(secret, 'name', 'created_at') }],
  [connection, { right: 'connection.read', body: pick(connection, 'name', 'created_at') }],
  [integration, { right: 'integration.read', body: pick(integration, 'id', 'name', 'created_at') }],
  [signingSecret, { right: 'signing_secret.read', body: pick(signingSecret, ...ofSecret) }],
  [subscriptionSecret, { right: 'signing_secret.read', body: pick(subscriptionSecret, ...ofSecret) }],
  [bulkOperation, { right: rightToRead, body: pick(bulkOperation, ...ofOperation) }],
  [taskOperation, { right: 'task.read', body: ending }],
  [deadLetterOperation, { right: 'dead_letter.read', body: settling }],
  [cancelledTasks, { right: 'task.read', body: cancelledTasks.extend(ended) }],
  [stoppedTasks, { right: 'task.read', body: stoppedTasks.extend(ended) }],
  [replayedDeadLetters, { right: 'dead_letter.read', body: replayedDeadLetters.extend(settled) }],
  [discardedDeadLetters, { right: 'dead_letter.read', body: discardedDeadLetters.extend(settled) }],
])

function pick<Shape extends z.ZodRawShape>(whole: z.ZodObject<Shape>, ...members: ReadonlyArray<keyof Shape & string>) {
  const shape = Object.fromEntries(members.map(member => [member, whole.shape[member] as z.ZodType]))
  return z.object(shape).meta({ id: `${whole.meta()?.id}Brief` })
}

/** Returns the brief form of the answer to callers with a right, or undefined if the right is to read what it shows. */
export function briefFormOf(body: z.ZodType | undefined, right: string): Brief | undefined {
  return body && !right.endsWith('.read') ? briefForms.get(body) : undefined
}
