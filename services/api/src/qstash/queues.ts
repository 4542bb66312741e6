import { type Db, inTransaction } from '@belfry/db/postgres/in-transaction'
import { advanceQueues } from '@belfry/db/queues/advance-queues'
import {
  deleteQueue as deleteStored,
  findQueue,
  listQueues as listStored,
  pauseQueue as pauseStored,
  type QueueRow,
} from '@belfry/db/queues/queues'
import type { AuditAction } from '@belfry/domain/audit-action'
import { audit } from '../audit/audit.ts'
import { ok, type Reply } from '../http/reply.ts'
import { setQueue } from '../queues/name-queues.ts'
import { type Call, readJson } from './call.ts'
import { flowControlOfQueue } from './publish/message-task.ts'
import { badRequest, QstashError } from './qstash-error.ts'

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/
const done: Reply = { status: 200 }

/** `POST /v2/queues` */
export async function upsertQueue(call: Call): Promise<Reply> {
  const { queueName, parallelism = 1, paused } = Object(await readJson(call)) as Record<string, unknown>
  if (typeof queueName !== 'string' || !nameForm.test(queueName) || flowControlOfQueue(queueName) !== null) {
    throw badRequest('invalid queueName: use up to 128 letters, digits and . _ : / -')
  }
  if (!Number.isInteger(parallelism) || Number(parallelism) < 1 || Number(parallelism) > 1000) {
    throw badRequest('invalid parallelism: it must be a number from 1 to 1000')
  }
  // One at a time keeps the order, through retries.
  const limits =
    parallelism === 1
      ? { ordered: true, max_concurrent: null }
      : { ordered: false, max_concurrent: Number(parallelism) }
  await change(call, queueName, 'queue.changed', async (tx, workspaceId) => {
    const id = await setQueue(tx, workspaceId, queueName, limits)
    if (typeof paused === 'boolean') await pauseStored(tx, workspaceId, queueName, paused)
    return id
  })
  return done
}

/** `GET /v2/queues` */
export async function listQueues({ ctx, caller }: Call): Promise<Reply> {
  const queues = await readAll(ctx.pool, caller.workspaceId)
  return ok(queues.filter(({ name }) => flowControlOfQueue(name) === null).map(presentQueue))
}

/** `GET /v2/queues/{queueName}` */
export async function getQueue({ ctx, caller, params: [name = ''] }: Call): Promise<Reply> {
  const queue = await findQueue(ctx.pool, caller.workspaceId, name)
  if (!queue || flowControlOfQueue(name) !== null) throw unknown()
  return ok(presentQueue(queue))
}

/** `DELETE /v2/queues/{queueName}` */
export async function deleteQueue({ ctx, caller, params: [name = ''] }: Call): Promise<Reply> {
  await inTransaction(ctx.pool, async tx => {
    const result = await deleteStored(tx, caller.workspaceId, name)
    if (result === 'unknown') throw unknown()
    if (result === 'in_use')
      throw new QstashError(412, 'the queue has messages or schedules: cancel or delete these first')
    await audit(tx, caller, { action: 'queue.deleted', objectId: name })
  })
  return done
}

/** `POST /v2/queues/{queueName}/pause` */
export function pauseQueue(call: Call): Promise<Reply> {
  return setPaused(call, call.params[0] ?? '', true)
}

/** `POST /v2/queues/{queueName}/resume` */
export function resumeQueue(call: Call): Promise<Reply> {
  return setPaused(call, call.params[0] ?? '', false)
}

/** Pauses or resumes a queue. */
export async function setPaused(call: Call, name: string, isPaused: boolean): Promise<Reply> {
  await change(call, name, isPaused ? 'queue.paused' : 'queue.resumed', async (tx, workspaceId) => {
    return (await pauseStored(tx, workspaceId, name, isPaused))?.id ?? null
  })
  return done
}

/** Changes a queue in a transaction with its audit entry, then wakes its messages. `act` returns the id of the queue. */
export async function change(
  { ctx, caller }: Call,
  name: string,
  action: AuditAction,
  act: (tx: Db, workspaceId: string) => Promise<string | null>,
): Promise<void> {
  const id = await inTransaction(ctx.pool, async tx => {
    const found = await act(tx, caller.workspaceId)
    if (found === null) throw unknown()
    await audit(tx, caller, { action, objectId: name })
    return found
  })
  await advanceQueues(ctx.pool, [id])
}

const pageSize = 500

/** Reads all queues of a workspace whose names start with `prefix`. */
export async function readAll(db: Db, workspaceId: string, prefix = ''): Promise<QueueRow[]> {
  const all: QueueRow[] = []
  for (;;) {
    const page = await listStored(db, workspaceId, { after: all.at(-1)?.name, prefix, limit: pageSize })
    all.push(...page)
    if (page.length < pageSize) return all
  }
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

function unknown(): QstashError {
  return new QstashError(404, 'queue not found')
}
