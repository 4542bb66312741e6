import {
  findQueue,
  listQueues as listStored,
  maxQueues,
  pauseQueue as pauseStored,
  type QueueRow,
} from '@belfry/db/queues/queues'
import { requireRight } from '../auth/authorize.ts'
import { notFound } from '../http/refusals.ts'
import { setQueue } from '../queues/name-queues.ts'
import { movePause, moveQueue, removeQueue } from '../queues/queues.ts'
import { type Call, on, type QstashRoutes, readJson } from './call.ts'
import { cancelMatching } from './messages.ts'
import { checkQueueName, flowControlOfQueue } from './publish/message-task.ts'
import { badRequest } from './qstash-error.ts'

export const queueRoutes: QstashRoutes = [
  ['/queues', { get: on('queue.read', listQueues), post: on('queue.write', upsertQueue) }],
  ['/queues/:name', { get: on('queue.read', getQueue), delete: on('queue.delete', deleteQueue) }],
  ['/queues/:name/pause', { post: on('queue.write', call => setPaused(call, nameOf(call), true)) }],
  ['/queues/:name/resume', { post: on('queue.write', call => setPaused(call, nameOf(call), false)) }],
]

async function listQueues(call: Call<'queue.read'>) {
  const queues = await readAll(call)
  return queues.filter(({ name }) => flowControlOfQueue(name) === null).map(presentQueue)
}

async function upsertQueue(call: Call<'queue.write'>): Promise<void> {
  const { queueName, parallelism = 1, paused } = Object(await readJson(call)) as Record<string, unknown>
  checkQueueName(queueName)
  if (!Number.isInteger(parallelism) || Number(parallelism) < 1 || Number(parallelism) > 1000) {
    throw badRequest('invalid parallelism: it must be a number from 1 to 1000')
  }
  // One at a time keeps the order, through retries.
  const ordered = parallelism === 1
  const limits = { ordered, max_concurrent: ordered ? null : Number(parallelism) }
  await moveQueue(call.ctx, call.caller, { name: queueName, action: 'queue.changed' }, async (tx, workspaceId) => {
    const id = await setQueue(tx, workspaceId, queueName, limits)
    if (typeof paused === 'boolean') await pauseStored(tx, workspaceId, queueName, paused)
    return id
  })
}

async function getQueue(call: Call<'queue.read'>) {
  const queue = await findQueue(call.ctx.pool, call.caller.workspaceId, nameOf(call))
  return queue && presentQueue(queue)
}

// With the messages that wait in it.
async function deleteQueue(call: Call<'queue.delete'>): Promise<void> {
  const { ctx, caller } = call
  const name = nameOf(call)
  await removeQueue(ctx, caller, name, () =>
    cancelMatching({ ...call, caller: requireRight(caller, 'task.delete') }, { queue: [name] }),
  )
}

/** Pauses or resumes the queue of a name or of a flow-control key. */
export function setPaused({ ctx, caller }: Call<'queue.write'>, name: string, isPaused: boolean): Promise<void> {
  return movePause(ctx, caller, name, isPaused)
}

function nameOf({ name }: Call): string {
  if (flowControlOfQueue(name) !== null) throw notFound()
  return name
}

/** Reads all queues of a workspace whose names start with `prefix`. */
export function readAll({ ctx, caller }: Call<'queue.read'>, prefix = ''): Promise<QueueRow[]> {
  return listStored(ctx.pool, caller.workspaceId, { after: undefined, prefix, limit: 2 * maxQueues })
}

// 0: a queue of Belfry without a limit.
function presentQueue({ name, ordered, maxConcurrent, pausedAt, waiting, createdAt, updatedAt }: QueueRow) {
  return {
    name,
    parallelism: ordered ? 1 : (maxConcurrent ?? 0),
    paused: pausedAt !== null,
    lag: waiting,
    createdAt: createdAt.getTime(),
    updatedAt: updatedAt.getTime(),
  }
}
