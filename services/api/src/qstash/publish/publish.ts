import { createHash } from 'node:crypto'
import { type Db, inTransaction, isInTransaction } from '@belfry/db/postgres/in-transaction'
import { claimMessage } from '@belfry/db/qstash/deduplicate'
import { advanceQueues } from '@belfry/db/queues/advance-queues'
import { nameQueue } from '@belfry/db/queues/queues'
import { type InsertedTask, insertTasks, type NewTask } from '@belfry/db/tasks/insert-tasks'
import { newUuid, toId } from '@belfry/domain/id'
import type { Context } from '../../context.ts'
import type { Work } from '../../endpoint.ts'
import { withinLimit } from '../../quotas/headroom.ts'
import { type Quota, spendFanOut } from '../../quotas/quotas.ts'
import { enqueue } from '../../tasks/enqueue.ts'
import { recordOrigin } from '../../tasks/record-origin.ts'
import { isStored } from '../../tasks/store-task.ts'
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
export async function preparePublication(
  call: Call,
  quota: Quota,
  publication: Publication,
  idAt: (i: number) => string = () => newUuid(),
): Promise<Prepared> {
  const { ctx, caller } = call
  const options = readPublished(ctx, publication)
  const destination = readDestination(ctx, publication.destination)
  const message: Message = { options, body: publication.body, callerIP: caller.address }
  const executeAt = timeOf(ctx, options)
  refuseUnpublishable(quota, publication.body, executeAt === null)
  const isGroup = 'group' in destination
  const endpoints = isGroup ? await endpointsOf(call, destination.group) : [destination]
  const tasks = endpoints.map((endpoint, i) => toMessageTask(caller.workspaceId, endpoint, message, executeAt, idAt(i)))
  recordOrigin(ctx, call, tasks)
  await spendFanOut(ctx.pool, quota, { organizationId: caller.organizationId, tasks })
  const messages = tasks.map((task, i) => ({ task, hash: hashOf(publication, options, endpoints[i], isGroup) }))
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
export async function storePrepared(call: Call, quota: Quota, { messages, options }: Prepared): Promise<Published[]> {
  await openQueueOf(call, options)
  const one = { workspaceId: call.caller.workspaceId, objects: 'pendingTasks', wanted: messages.length } as const
  const { ctx } = call
  return withinLimit({ ...ctx, db: ctx.pool as Db }, quota, one, async work => {
    const published: Published[] = []
    const simple = messages.length === 1 && messages[0]?.hash === null ? messages[0] : null
    if (simple) return [await storeAlone(ctx, work, simple.task)]
    for (const { task, hash } of messages) {
      published.push(hash === null ? await storeAlone(ctx, work, task) : await storeOnce(ctx, work, task, hash))
    }
    return published
  })
}

async function storeAlone(
  ctx: Context,
  { db, insertBatches }: Pick<Work, 'db' | 'insertBatches'>,
  task: NewTask,
): Promise<Published> {
  const insert = async (task: NewTask) =>
    isInTransaction(db) ? (await insertTasks(db, [task]))[0] : await insertBatches.insertTask(task)
  return announce(ctx, task, await storedOf(insert, task))
}

async function storeOnce(ctx: Context, { db }: Pick<Work, 'db'>, task: NewTask, hash: Buffer): Promise<Published> {
  const result = await inTransaction(db, async tx => {
    const earlier = await claimMessage(tx, task.workspaceId, hash, task.id)
    if (earlier !== null) return earlier
    return storedOf(async task => (await insertTasks(tx, [task]))[0], task)
  })
  if (typeof result !== 'string') return announce(ctx, task, result)
  return { messageId: toId('msg', result), url: task.url, deduplicated: true }
}

/** Stores a task. A delay that has passed meanwhile means now. */
async function storedOf(
  insert: (task: NewTask) => Promise<InsertedTask | undefined>,
  task: NewTask,
): Promise<InsertedTask> {
  const inserted = await insert(task)
  const stored = isStored(inserted) ? inserted : await insert({ ...task, executeAt: null })
  if (!isStored(stored)) throw new Error('The insert returned no row for the message.')
  return stored
}

function announce(ctx: Context, task: NewTask, { executeAt, now }: InsertedTask): Published {
  enqueue(ctx, [{ ...task, dueAt: executeAt }], now)
  return { messageId: toId('msg', task.id), url: task.url }
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
  endpoint: Endpoint | undefined,
  isGroup: boolean,
): Buffer | null {
  const url = endpoint?.url ?? ''
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

/** Creates the queue of a message if it is new, and sets the limits that the message gives for its flow-control key. */
export async function openQueueOf(
  { ctx, caller: { workspaceId } }: Call,
  { queue, flowControl }: MessageOptions,
): Promise<void> {
  if (flowControl) {
    const name = queueOfFlowControl(flowControl.key)
    const { parallelism, rate, period = 1 } = flowControl
    const pinned = await findQueue(ctx, workspaceId, name)
    const { id, isChanged } = await nameQueue(ctx.pool, workspaceId, name, {
      ...(!pinned?.concurrency && { maxConcurrent: parallelism ?? null }),
      ...(!pinned?.rate && { rateLimit: rate === undefined ? null : { count: rate, periodMs: period * 1000 } }),
    })
    if (isChanged) await advanceQueues(ctx.pool, [id])
  } else if (queue !== null && !(await findQueue(ctx, workspaceId, queue))) {
    await nameQueue(ctx.pool, workspaceId, queue, { ordered: true })
  }
}

async function findQueue({ pool }: Context, workspaceId: string, name: string) {
  const text = `
    SELECT pinned_concurrency AS concurrency, pinned_rate AS rate FROM queues WHERE workspace_id = $1 AND name = $2`
  const values = [workspaceId, name]
  const { rows } = await pool.query<{ concurrency: boolean; rate: boolean }>({ name: 'find_pins', text, values })
  return rows[0]
}
