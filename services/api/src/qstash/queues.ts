import {
  findQueue,
  listQueues as listStored,
  maxQueues,
  pauseQueue as pauseStored,
  type QueueRow,
} from '@belfry/db/queues/queues'
import { requireRight } from '../auth/authorize.ts'
import { notFound } from '../http/refusals.ts'
import { ok, type Reply } from '../http/reply.ts'
import { setQueue } from '../queues/name-queues.ts'
import { movePause, moveQueue, removeQueue } from '../queues/queues.ts'
import { type Call, readJson } from './call.ts'
import { cancelMatching } from './messages.ts'
import { checkQueueName, flowControlOfQueue } from './publish/message-task.ts'
import { badRequest } from './qstash-error.ts'

const done: Reply = { status: 200 }

/** `POST /v2/queues` */
export async function upsertQueue(call: Call<'queue.write'>): Promise<Reply> {
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
  return done
}

/** `GET /v2/queues` */
export async function listQueues(call: Call<'queue.read'>): Promise<Reply> {
  const queues = await readAll(call)
  return ok(queues.filter(({ name }) => flowControlOfQueue(name) === null).map(presentQueue))
}

/** `GET /v2/queues/{queueName}` */
export async function getQueue(call: Call<'queue.read'>): Promise<Reply> {
  const queue = await findQueue(call.ctx.pool, call.caller.workspaceId, nameOf(call))
  if (!queue) throw notFound()
  return ok(presentQueue(queue))
}

/** `DELETE /v2/queues/{queueName}`, with the messages that wait in it. */
export async function deleteQueue(call: Call<'queue.delete'>): Promise<Reply> {
  const { ctx, caller } = call
  const name = nameOf(call)
  await removeQueue(ctx, caller, name, () =>
    cancelMatching({ ...call, caller: requireRight(caller, 'task.delete') }, { queue: [name] }),
  )
  return done
}

/** `POST /v2/queues/{queueName}/pause` */
export function pauseQueue(call: Call<'queue.write'>): Promise<Reply> {
  return setPaused(call, nameOf(call), true)
}

/** `POST /v2/queues/{queueName}/resume` */
export function resumeQueue(call: Call<'queue.write'>): Promise<Reply> {
  return setPaused(call, nameOf(call), false)
}

/** Pauses or resumes the queue of a name or of a flow-control key. */
export async function setPaused({ ctx, caller }: Call<'queue.write'>, name: string, isPaused: boolean): Promise<Reply> {
  await movePause(ctx, caller, name, isPaused)
  return done
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
