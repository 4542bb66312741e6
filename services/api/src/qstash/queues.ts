import type { UpdateQueueBody } from '@belfry/contract/queue'
import {
  findQueue,
  listQueues as listStored,
  maxQueues,
  pauseQueue as pauseStored,
  type QueueRow,
} from '@belfry/db/queues/queues'
import { notFound } from '@belfry/domain/app-error'
import { requireRight } from '../auth/authorize.ts'
import { movePause, moveQueue, removeQueue, setQueue } from '../queues/queues.ts'
import { type Call, on, type QstashRoutes, readJson } from './call.ts'
import { cancelMatching } from './messages.ts'
import { checkFlowControlKey } from './publish/message-options.ts'
import { checkQueueName, flowControlOfQueue, queueOfFlowControl } from './publish/message-task.ts'
import { badRequest, readNumber } from './qstash-error.ts'

export const queueRoutes: QstashRoutes = [
  ['/queues', { get: on('queue.read', listQueues), post: on('queue.write', upsertQueue) }],
  ['/queues/:name', { get: on('queue.read', getQueue), delete: on('queue.delete', deleteQueue) }],
  ['/queues/:name/pause', { post: pausing(nameOf, true) }],
  ['/queues/:name/resume', { post: pausing(nameOf, false) }],
]

function pausing(queueOf: (call: Call) => string, isPaused: boolean) {
  return on('queue.write', call => movePause(call.ctx, call.caller, queueOf(call), isPaused))
}

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

function nameOf({ name }: Call): string {
  if (flowControlOfQueue(name) !== null) throw notFound()
  return name
}

function readAll({ ctx, caller }: Call<'queue.read'>, prefix = ''): Promise<QueueRow[]> {
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

type Key = QueueRow & { pinnedConcurrency: boolean; pinnedRate: boolean; starts: number; periodStart: Date | null }

export const flowControlRoutes: QstashRoutes = [
  ['/flowControl', { get: on('queue.read', listFlowControl) }],
  ['/flowControl/:key', { get: on('queue.read', getFlowControl) }],
  ['/flowControl/:key/pause', { post: pausing(queueOfKey, true) }],
  ['/flowControl/:key/resume', { post: pausing(queueOfKey, false) }],
  ['/flowControl/:key/pin', { post: on('queue.write', pinFlowControl) }],
  ['/flowControl/:key/unpin', { post: on('queue.write', unpinFlowControl) }],
  ['/flowControl/:key/resetRate', { post: on('queue.write', resetRate) }],
  ['/globalParallelism', { get: on('queue.read', getGlobalParallelism) }],
]

function queueOfKey({ name }: Call): string {
  return queueOfFlowControl(name)
}

async function listFlowControl(call: Call<'queue.read'>) {
  const prefix = queueOfFlowControl('')
  const search = call.query.get('search') ?? ''
  const queues = await readAll(call, prefix)
  const found = queues.filter(({ name }) => name.slice(prefix.length).includes(search))
  return (await addUse(call, found)).map(present)
}

async function getFlowControl(call: Call<'queue.read'>) {
  const queue = await findQueue(call.ctx.pool, call.caller.workspaceId, queueOfKey(call))
  const [key] = queue ? await addUse(call, [queue]) : []
  return key ? present(key) : null
}

// Sets limits that messages do not change.
async function pinFlowControl(call: Call<'queue.write'>): Promise<void> {
  checkFlowControlKey(call.name)
  const read = (name: string, max: number) => {
    const text = call.query.get(name)
    return text === null ? null : readNumber(`${name}: it`, text, 1, max)
  }
  const [parallelism, rate] = [read('parallelism', 1000), read('rate', 10_000)]
  const period = read('period', 86_400) ?? 1
  if (parallelism === null && rate === null) throw badRequest('give parallelism or rate')
  const limits: UpdateQueueBody = {
    ...(parallelism !== null && { max_concurrent: parallelism }),
    ...(rate !== null && { rate_limit: { count: rate, period_ms: period * 1000 } }),
  }
  await move(call, async (tx, workspaceId) => {
    const id = await setQueue(tx, workspaceId, queueOfKey(call), limits)
    const text = `
      UPDATE queues SET pinned_concurrency = pinned_concurrency OR $2, pinned_rate = pinned_rate OR $3 WHERE id = $1`
    await tx.query(text, [id, parallelism !== null, rate !== null])
    return id
  })
}

// The next message sets the limits again.
async function unpinFlowControl(call: Call<'queue.write'>): Promise<void> {
  const { query } = call
  await move(call, async (tx, workspaceId) => {
    const text = `
      UPDATE queues SET pinned_concurrency = pinned_concurrency AND NOT $3, pinned_rate = pinned_rate AND NOT $4
      WHERE workspace_id = $1 AND name = $2 RETURNING id`
    const isNamed = (name: string) => query.get(name) === 'true'
    const values = [workspaceId, queueOfKey(call), isNamed('parallelism'), isNamed('rate')]
    return (await tx.query<{ id: string }>(text, values)).rows[0]?.id ?? null
  })
}

// Forgets the attempts of the present period.
async function resetRate(call: Call<'queue.write'>): Promise<void> {
  await move(call, async (tx, workspaceId) => {
    const queue = await findQueue(tx, workspaceId, queueOfKey(call))
    if (!queue) return null
    await tx.query('DELETE FROM queue_starts WHERE queue_id = $1', [queue.id])
    return queue.id
  })
}

// Belfry has no such limit, so the maximum is 0.
async function getGlobalParallelism({ ctx, caller }: Call<'queue.read'>) {
  const text = `SELECT count(*)::int AS n FROM tasks WHERE workspace_id = $1 AND state = 'processing'`
  const { rows } = await ctx.pool.query<{ n: number }>(text, [caller.workspaceId])
  return { parallelismMax: 0, parallelismCount: rows[0]?.n ?? 0 }
}

function move(call: Call<'queue.write'>, change: Parameters<typeof moveQueue>[3]): Promise<void> {
  return moveQueue(call.ctx, call.caller, { name: queueOfKey(call), action: 'queue.changed' }, change)
}

async function addUse({ ctx }: Call, queues: readonly QueueRow[]): Promise<Key[]> {
  const text = `
    SELECT q.id, q.pinned_concurrency AS "pinnedConcurrency", q.pinned_rate AS "pinnedRate",
           coalesce(s.starts, 0)::int AS starts, s.since AS "periodStart"
    FROM queues q LEFT JOIN LATERAL (
      SELECT sum(u.starts) AS starts, min(u.at) AS since FROM (
        SELECT at, sum(starts) AS starts FROM queue_starts
        WHERE queue_id = q.id AND at > now() - q.rate_period_ms * interval '1 millisecond'
        GROUP BY at HAVING sum(starts) > 0
      ) u
    ) s ON true
    WHERE q.id = ANY ($1::uuid[])`
  const { rows } = await ctx.pool.query<Omit<Key, keyof QueueRow> & { id: string }>(text, [queues.map(({ id }) => id)])
  const byId = new Map(rows.map(row => [row.id, row]))
  return queues.flatMap(queue => {
    const use = byId.get(queue.id)
    return use ? [{ ...queue, ...use }] : []
  })
}

function present(key: Key) {
  return {
    flowControlKey: flowControlOfQueue(key.name),
    waitListSize: key.waiting,
    parallelismMax: key.maxConcurrent ?? 0,
    parallelismCount: key.inFlight,
    rateMax: key.rateCount ?? 0,
    rateCount: key.starts,
    ratePeriod: (key.ratePeriodMs ?? 0) / 1000,
    ratePeriodStart: key.periodStart === null ? 0 : Math.floor(key.periodStart.getTime() / 1000),
    isPaused: key.pausedAt !== null,
    isPinnedParallelism: key.pinnedConcurrency,
    isPinnedRate: key.pinnedRate,
  }
}
