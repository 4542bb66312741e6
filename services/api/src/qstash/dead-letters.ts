import type { SettleAction } from '@belfry/db/dead-letters/settle-dead-letters'
import { isDeadLetter } from '@belfry/db/tasks/task-row'
import { fromId, NIL_UUID, toId } from '@belfry/domain/id'
import { headerCase } from '@belfry/domain/request-headers'
import { headerLists } from '@belfry/present/payload-of'
import type { TaskRow } from '@belfry/present/task-row'
import { type BulkRight, settleAtOnce } from '../bulk-operations/bulk-operations.ts'
import { isOnPage, readBounded } from '../http/bounded-page.ts'
import { scanTasks } from '../tasks/read-tasks.ts'
import { depthOf } from '../tasks/schedule.ts'
import { type Call, on, type QstashRoutes, readFilters } from './call.ts'
import { defaultCount, readCount, readFilter, readTimes, refuseOrder } from './message-filter.ts'
import { presentBytes, presentMessage } from './messages.ts'
import { badRequest, notOffered } from './qstash-error.ts'

export const deadLetterRoutes: QstashRoutes = [
  ['/dlq', { get: on('dead_letter.read', listDeadLetters), delete: on('dead_letter.discard', deleteDeadLetters) }],
  ['/dlq/retry', { post: on('dead_letter.replay', retryDeadLetters) }],
  ['/dlq/retry/:id', { post: on('dead_letter.replay', retryDeadLetter) }],
  ['/dlq/:id', { get: on('dead_letter.read', getDeadLetter), delete: on('dead_letter.discard', deleteDeadLetter) }],
]

async function listDeadLetters(call: Call<'dead_letter.read'>) {
  const { rows, cursor } = await readPage<TaskRow>(call, call.query, scanOf(call, call.query))
  return { messages: await presentAll(call, rows), cursor }
}

async function getDeadLetter(call: Call<'dead_letter.read'>) {
  const query = new URLSearchParams({ dlqId: call.name })
  const { rows } = await readPage<TaskRow>(call, query, scanOf(call, query))
  const [message = null] = await presentAll(call, rows)
  return message
}

async function deleteDeadLetter(call: Call<'dead_letter.discard'>) {
  const { deadLetters } = await settle(call, [fromId('dlq', call.name) ?? NIL_UUID], 'discard')
  return deadLetters.length === 0 ? null : { deleted: 1 }
}

async function deleteDeadLetters(call: Call<'dead_letter.discard'>) {
  const { ids, cursor } = await readIds(call)
  const { deadLetters } = await settle(call, ids, 'discard')
  return { deleted: deadLetters.length, cursor }
}

async function retryDeadLetter(call: Call<'dead_letter.replay'>) {
  refuseOverrides(call)
  const [replay] = (await settle(call, [fromId('dlq', call.name) ?? NIL_UUID], 'replay')).replays
  return replay ? { messageId: toId('msg', replay.id) } : null
}

async function retryDeadLetters(call: Call<'dead_letter.replay'>) {
  refuseOverrides(call)
  const { ids, cursor } = await readIds(call)
  const { replays } = await settle(call, ids, 'replay')
  return { responses: replays.map(({ id }) => ({ messageId: toId('msg', id) })), cursor }
}

function refuseOverrides({ request }: Call): void {
  const name = Object.keys(request.headers).find(name => /^upstash-(?!telemetry-)/.test(name))
  if (name !== undefined) throw notOffered(`A retry has the options of its message: remove ${headerCase(name)}.`)
}

// Reads the ids alone, so the bytes of the payloads do not end the page.
async function readIds(call: Call) {
  const query = await readFilters(call)
  const { payload: _, ...scan } = scanOf(call, query)
  const read = `SELECT t.id FROM tasks t WHERE ${isOnPage('t.id')}`
  const { rows, cursor } = await readPage<{ id: string }>(call, query, { ...scan, read })
  return { ids: rows.map(({ id }) => id), cursor }
}

const maxIds = 1_000

// The dead letters that a query selects, newest first. A page has all that the query names.
function scanOf({ caller }: Call, query: URLSearchParams) {
  refuseOrder(query)
  const filter = readFilter(query, ['count', 'cursor', 'fromDate', 'toDate', 'order'])
  const named = filter.ids?.length ?? 0
  if (named > maxIds) throw badRequest(`at most ${maxIds} ids are allowed`)
  const scan = scanTasks(caller.workspaceId, { ...filter, state: ['dead'] })
  const { from, to } = readTimes(query)
  scan.rest.and(`${isDeadLetter} AND t.finished_at BETWEEN ? AND ?`, from, to)
  return { ...scan, count: readCount(query, Math.max(defaultCount, named)) }
}

// The cursor is an id. The last page omits it.
async function readPage<Row extends { id: string }>(
  { ctx }: Call,
  query: URLSearchParams,
  scan: ReturnType<typeof scanOf>,
) {
  const cursor = query.get('cursor')
  const after = cursor ? (fromId('dlq', cursor) ?? NIL_UUID) : undefined
  const { rows, next } = await readBounded<Row>(ctx, scan, after, scan.count)
  return { rows, cursor: next === null ? undefined : toId('dlq', next) }
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
    ...presentBytes(run.body ?? Buffer.alloc(0), 'responseBody'),
  }
}

async function settle<A extends SettleAction>(call: Call<BulkRight<A>>, ids: readonly string[], action: A) {
  const { ctx, caller, request } = call
  const depth = action === 'replay' ? depthOf(ctx, request) : null
  return settleAtOnce(ctx, caller, { action, filter: { ids: [...ids] }, perSecond: null }, ids, depth)
}
