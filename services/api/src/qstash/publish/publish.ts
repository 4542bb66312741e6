import { createHash } from 'node:crypto'
import type { QueueField } from '@belfry/contract/queue'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { claimMessage } from '@belfry/db/qstash/deduplicate'
import type { NewTask } from '@belfry/db/tasks/insert-tasks'
import { toId } from '@belfry/domain/id'
import type { Context } from '../../context.ts'
import { type Work, workOf } from '../../endpoint.ts'
import type { QueueDefaults } from '../../queues/name-queues.ts'
import type { Quota } from '../../quotas/quotas.ts'
import { type Stored, schedule } from '../../tasks/schedule.ts'
import { insertOne, toDueRow } from '../../tasks/store-tasks.ts'
import type { Call } from '../call.ts'
import { notOffered, QstashError } from '../qstash-error.ts'
import { checkUrl, readDestination } from './destination.ts'
import { type MessageHeaders, type MessageOptions, readOptions } from './message-options.ts'
import { type Endpoint, flowControlOfQueue, type Message, queueOfFlowControl, toMessageTask } from './message-task.ts'
import { refuseUnpublishable } from './refuse-unpublishable.ts'

/** One message of a request. `destination` as it was sent; `queue`: the queue in the path or the batch. */
export type Publication = { destination: string; headers: MessageHeaders; body: Buffer; queue?: string | undefined }

export type Published = { messageId: string; url: string; deduplicated?: true }

/** A publication that may be stored. */
export type Prepared = {
  isGroup: boolean
  /** With the hash that it is deduplicated by; null when it is not. */
  messages: Array<{ task: NewTask; hash: Buffer | null }>
  options: MessageOptions
}

/**
 * Checks a publication and makes its tasks, without storing them.
 * @throws QstashError, or AppError.
 */
export async function preparePublication(call: Call, quota: Quota, publication: Publication): Promise<Prepared> {
  const { ctx, caller } = call
  const options = readPublished(ctx, publication)
  const destination = readDestination(ctx, publication.destination)
  const message: Message = { options, body: publication.body, callerIP: caller.address }
  const executeAt = timeOf(ctx, options)
  refuseUnpublishable(quota, publication.body, executeAt === null)
  const isGroup = 'group' in destination
  const endpoints = isGroup ? await endpointsOf(call, destination.group) : [destination]
  const messages = endpoints.map(endpoint => ({
    task: toMessageTask(caller.workspaceId, endpoint, message, executeAt),
    hash: hashOf(publication, options, endpoint, isGroup),
  }))
  return { isGroup, messages, options }
}

/** Reads the options of a publication, and checks that Belfry can keep them all. */
export function readPublished(ctx: Context, { headers, queue }: Publication): MessageOptions {
  const options = readOptions(headers)
  if (queue !== undefined) options.queue = queue
  for (const callback of [options.callback, options.failureCallback]) if (callback) checkUrl(ctx, callback.url)
  if (options.queue !== null && options.flowControl) {
    throw notOffered('A message has a queue or a flow-control key, not both.')
  }
  if (options.queue !== null && (!queueName.test(options.queue) || flowControlOfQueue(options.queue) !== null)) {
    throw new QstashError(400, 'invalid queue name: use up to 128 letters, digits and . _ : / -')
  }
  return options
}

const queueName = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/

/** Stores prepared messages that belong together, and returns an answer for each. */
export async function storePrepared(call: Call, { messages, options }: Prepared): Promise<Published[]> {
  const { published } = await schedule(workOf(call.ctx), call, {
    ...queuesOf(options),
    starts: messages[0]?.task.executeAt ? 'later' : 'at_once',
    rows: messages.map(({ task }) => task),
    fansOut: true,
    async store(work) {
      const results: Array<Stored & { published: Published }> = []
      for (const { task, hash } of messages) results.push(await storeMessage(work, task, hash))
      return {
        published: results.map(({ published }) => published),
        due: results.flatMap(({ due }) => due),
        now: results[0]?.now ?? new Date(),
      }
    },
  })
  return published
}

async function storeMessage(
  work: Work,
  task: NewTask,
  hash: Buffer | null,
): Promise<Stored & { published: Published }> {
  if (hash === null) return insertMessage(work, task)
  return inTransaction(work.db, async tx => {
    const earlier = await claimMessage(tx, task.workspaceId, hash, task.id)
    if (earlier === null) return insertMessage({ ...work, db: tx }, task)
    return {
      published: { messageId: toId('msg', earlier), url: task.url, deduplicated: true },
      due: [],
      now: new Date(),
    }
  })
}

async function insertMessage(work: Pick<Work, 'db' | 'insertBatches'>, task: NewTask) {
  const inserted = await insertOne(work, task)
  // A delay that has passed meanwhile means now.
  const { executeAt, now } = inserted.createdAt ? inserted : await insertOne(work, { ...task, executeAt: null })
  return { published: { messageId: toId('msg', task.id), url: task.url }, due: [toDueRow(task, executeAt)], now }
}

function timeOf({ clock }: Context, { notBefore, delayMs }: MessageOptions): Date | null {
  const now = clock.now()
  const at = notBefore ?? now + delayMs
  return at > now ? new Date(at) : null
}

// Headers that are not part of the message do not make it another message.
function hashOf(
  { headers, body }: Publication,
  { deduplicationId, deduplicatesByContent }: MessageOptions,
  { url }: Endpoint,
  isGroup: boolean,
): Buffer | null {
  if (deduplicationId !== null) return digest(['id', deduplicationId, isGroup ? url : ''], Buffer.alloc(0))
  if (!deduplicatesByContent) return null
  const counted = Object.entries(headers).filter(
    ([name]) => /^(content-type$|upstash-)/.test(name) && !/^upstash-telemetry-/.test(name),
  )
  return digest(['content', url, JSON.stringify(counted.sort(([a], [b]) => (a < b ? -1 : 1)))], body)
}

function digest(texts: readonly string[], body: Buffer): Buffer {
  return createHash('sha256').update(JSON.stringify(texts)).update(body).digest()
}

async function endpointsOf({ ctx, caller }: Call, group: string): Promise<Endpoint[]> {
  const text = `
    SELECT url, endpoint_name AS name FROM subscriptions
    WHERE workspace_id = $1 AND topic = $2 AND active ORDER BY id`
  const values = [caller.workspaceId, group]
  const { rows } = await ctx.pool.query<{ url: string; name: string | null }>({ name: 'find_endpoints', text, values })
  if (rows.length === 0) throw new QstashError(404, `url group ${group} not found`)
  return rows.map(({ url, name }) => ({ url, topicName: group, ...(name !== null && { endpointName: name }) }))
}

/** Returns the queue of a message, with the limits of its flow-control key. A new queue keeps the order. */
export function queuesOf({ queue, flowControl }: MessageOptions): {
  queues: QueueField[]
  queueDefaults?: QueueDefaults
} {
  if (!flowControl) return queue === null ? { queues: [] } : { queues: [queue], queueDefaults: { ordered: true } }
  const { key, parallelism = null, rate, period = 1 } = flowControl
  const rateLimit = rate === undefined ? null : { count: rate, period_ms: period * 1000 }
  return { queues: [{ name: queueOfFlowControl(key), max_concurrent: parallelism, rate_limit: rateLimit }] }
}
