import type { SettleAction } from '@belfry/db/dead-letters/settle-dead-letters'
import { isDeadLetter } from '@belfry/db/tasks/task-row'
import { fromId, NIL_UUID, toId } from '@belfry/domain/id'
import { headerLists } from '@belfry/present/payload-of'
import type { TaskRow } from '@belfry/present/task-row'
import type { BulkRight } from '../bulk-operations/start-operation.ts'
import { settleAtOnce } from '../dead-letters/settle-dead-letters.ts'
import { readBounded } from '../http/bounded-page.ts'
import { notFound } from '../http/refusals.ts'
import { ok, type Reply } from '../http/reply.ts'
import { scanTasks } from '../tasks/find-tasks.ts'
import { selectTasks } from '../tasks/task-row.ts'
import { type Call, readFilters } from './call.ts'
import { messagesWhere, readCount, readStatuses, readTime } from './message-filter.ts'
import { presentBytes, presentMessage } from './present-message.ts'

/** `GET /v2/dlq` */
export async function listDeadLetters(call: Call<'dead_letter.read'>): Promise<Reply> {
  const { rows, cursor } = await find(call, call.query)
  return ok({ messages: await presentAll(call, rows), ...(cursor && { cursor }) })
}

/** `GET /v2/dlq/{dlqId}` */
export async function getDeadLetter(call: Call<'dead_letter.read'>): Promise<Reply> {
  const [message] = await presentAll(call, await findOne(call))
  if (!message) throw notFound()
  return ok(message)
}

/** `DELETE /v2/dlq/{dlqId}` */
export async function deleteDeadLetter(call: Call<'dead_letter.discard'>): Promise<Reply> {
  const { deadLetters } = await settle(call, await findOne(call), 'discard')
  if (deadLetters.length === 0) throw notFound()
  return ok({ deleted: 1 })
}

/** `DELETE /v2/dlq` */
export async function deleteDeadLetters(call: Call<'dead_letter.discard'>): Promise<Reply> {
  const { rows, cursor } = await find(call, await readFilters(call))
  const { deadLetters } = await settle(call, rows, 'discard')
  return ok({ deleted: deadLetters.length, ...(cursor && { cursor }) })
}

/** `POST /v2/dlq/retry/{dlqId}` */
export async function retryDeadLetter(call: Call<'dead_letter.replay'>): Promise<Reply> {
  const [replay] = (await settle(call, await findOne(call), 'replay')).replays
  if (!replay) throw notFound()
  return ok({ messageId: toId('msg', replay.id) })
}

/** `POST /v2/dlq/retry` */
export async function retryDeadLetters(call: Call<'dead_letter.replay'>): Promise<Reply> {
  const { rows, cursor } = await find(call, await readFilters(call))
  const { replays } = await settle(call, rows, 'replay')
  return ok({ responses: replays.map(({ id }) => ({ messageId: toId('msg', id) })), ...(cursor && { cursor }) })
}

// A page of the dead letters that a query means, newest first. The cursor is an id.
async function find({ ctx, caller }: Call, query: URLSearchParams) {
  const scan = scanTasks(caller.workspaceId, { state: ['dead'] })
  const { rest } = scan
  rest.and(isDeadLetter)
  const [from, to] = [readTime(query, 'fromDate'), readTime(query, 'toDate')]
  if (from) rest.and('t.finished_at >= ?', from)
  if (to) rest.and('t.finished_at <= ?', to)
  const statuses = readStatuses(query)
  if (statuses) rest.and(`${lastStatusOfTask} = ANY (?::int[])`, statuses)
  messagesWhere(query, ['count', 'cursor', 'fromDate', 'toDate', 'responseStatus', 'order'], rest)
  const joined = 'JOIN task_requests r ON r.task_id = t.id'
  const cursor = query.get('cursor')
  const after = cursor ? (fromId('dlq', cursor) ?? NIL_UUID) : undefined
  const { rows, next } = await readBounded<TaskRow>(ctx, { ...scan, joined }, after, readCount(query))
  return { rows, cursor: next && toId('dlq', next) }
}

// A run is younger than its task, so older partitions are skipped.
const lastStatusOfTask = `(
  SELECT u.response_status FROM runs u WHERE u.task_id = t.id AND u.id >= uuid_v7_floor(t.created_at)
  ORDER BY u.id DESC LIMIT 1
)`

async function findOne({ ctx, caller, name: id }: Call): Promise<TaskRow[]> {
  const text = `${selectTasks} WHERE t.id = $1 AND t.workspace_id = $2 AND ${isDeadLetter}`
  return (await ctx.pool.query<TaskRow>(text, [fromId('dlq', id) ?? NIL_UUID, caller.workspaceId])).rows
}

type Response = { id: string; status: number | null; headers: string | null; body: Buffer | null; error: string | null }

async function presentAll({ ctx, caller }: Call<'dead_letter.read'>, rows: readonly TaskRow[]) {
  const text = `
    SELECT id, response_status AS status, response_headers AS headers, response_body AS body, error_message AS error
    FROM runs WHERE workspace_id = $1 AND id = ANY ($2::uuid[])`
  const runs = rows.flatMap(({ lastRunId }) => lastRunId ?? [])
  const found = runs.length === 0 ? [] : (await ctx.pool.query<Response>(text, [caller.workspaceId, runs])).rows
  const byId = new Map(found.map(run => [run.id, run]))
  return rows.map(row => ({
    dlqId: toId('dlq', row.id),
    ...presentMessage(row),
    ...presentResponse(byId.get(row.lastRunId ?? '')),
  }))
}

function presentResponse(run: Response | undefined) {
  // Clients expect a status, also when no response came.
  if (!run || run.status === null) return { responseStatus: 0, responseBody: run?.error ?? '' }
  return {
    responseStatus: run.status,
    responseHeader: headerLists(JSON.parse(run.headers ?? '{}')),
    ...presentBytes(run.body ?? Buffer.alloc(0), 'responseBody', 'responseBodyBase64'),
  }
}

async function settle<A extends SettleAction>(
  { ctx, caller }: Call<BulkRight<A>>,
  rows: readonly TaskRow[],
  action: A,
) {
  const ids = rows.map(({ id }) => id)
  return settleAtOnce(ctx, caller, { action, filter: { ids }, perSecond: null }, ids)
}
