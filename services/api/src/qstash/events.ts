import type { Run, Task } from '@belfry/db/generated/client'
import { conditionsOf } from '@belfry/db/tasks/task-filter'
import { firstUuidAt, toId } from '@belfry/domain/id'
import { largestId, where } from '../http/bounded-page.ts'
import { type Call, on, type QstashRoutes } from './call.ts'
import { readCount, readFilter, readList, readTimes, refuseOrder, toStatus } from './message-filter.ts'
import { fieldsOf, presentRequest, type RequestRow } from './messages.ts'
import { badRequest } from './qstash-error.ts'

export const eventRoutes: QstashRoutes = [
  ['/events', { get: on('run.read', readPage) }],
  ['/logs', { get: on('run.read', readLogs) }],
]

const states = ['CREATED', 'ACTIVE', 'RETRY', 'ERROR', 'DELIVERED', 'FAILED', 'CANCELED']
// Names that stand for these.
const otherNames = new Map([
  ['CANCELLED', ['CANCELED']],
  ['CANCEL_REQUESTED', ['CANCELED']],
  ['IN_PROGRESS', ['ACTIVE', 'RETRY', 'ERROR']],
])

function statesOf(name: string): readonly string[] {
  const found = states.includes(name) ? [name] : otherNames.get(name)
  if (found) return found
  throw badRequest(`invalid state: ${name}`)
}

const ownParameters = ['count', 'cursor', 'state', 'fromDate', 'toDate', 'responseStatus', 'order', 'trimBody']
const maxRounds = 20
const maxBytes = 2_000_000

type Event = { state: string; time: number } & Record<string, unknown>

// The events of a task are made from its row and its runs, newest first. The events of an attempt stay together, at the
// time when it started, so the cursor is the id of a run or a task and the number of its events that were sent. The
// last page omits it.
async function readPage(call: Call<'run.read'>): Promise<{ events: Event[]; cursor?: string }> {
  const { query } = call
  const count = readCount(query)
  refuseOrder(query)
  const wanted = readList(query, 'state').flatMap(statesOf)
  const isWanted = ({ state }: Event) => wanted.length === 0 || wanted.includes(state)
  const events: Event[] = []
  let at = readCursor(query.get('cursor'))
  let bytesLeft = maxBytes
  for (let round = 0; round < maxRounds; round++) {
    // The first source may be the last one of the previous round.
    const size = count + 1
    const found = await readSources(call, at.id, size + 1)
    const sources = await withPayloads(call, found.slice(0, size), bytesLeft)
    for (const { id, events: all, bytes } of sources) {
      bytesLeft -= bytes
      const skipped = id === at.id ? at.sent : 0
      for (let i = skipped; i < all.length; i++) {
        const event = all[i]
        if (!event || !isWanted(event)) continue
        if (events.length === count) return { events, cursor: `${id}.${i}` }
        events.push(event)
      }
      at = { id, sent: all.length }
    }
    if (sources.length === found.length) return { events }
    if (bytesLeft <= 0) break
  }
  return { events, cursor: `${at.id}.${at.sent}` }
}

async function readLogs(call: Call<'run.read'>) {
  const { events: logs, cursor } = await readPage(call)
  return { logs, cursor }
}

// Clients may also send a time.
function readCursor(cursor: string | null): { id: string; sent: number } {
  if (cursor === null || cursor === '') return { id: largestId, sent: 0 }
  if (/^\d{1,14}$/.test(cursor)) return { id: firstUuidAt(Number(cursor)), sent: 0 }
  const [, id, sent] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d)$/.exec(cursor) ?? []
  if (id === undefined) throw badRequest('invalid cursor')
  return { id, sent: Number(sent) }
}

/** What the events of a task are made from. The events of a run are made from more. */
type TaskFields = RequestRow &
  Pick<Task, 'id' | 'state' | 'dueAt' | 'createdAt' | 'finishedAt'> & { taskId: string; bytes: number }
type RunFields = TaskFields &
  Pick<Run, 'status' | 'startedAt' | 'responseStatus' | 'errorMessage'> & { endedAt: Date; isLast: boolean }

// Bytes of the bodies: an attempt has up to three events, with the body in base64.
const columns = `t.id AS "taskId", t.state, t.due_at AS "dueAt", t.created_at AS "createdAt", t.finished_at AS "finishedAt",
  r.url, r.method, r.headers, 4 * coalesce(octet_length(r.payload), 0) AS bytes, r.is_report AS "isReport",
  r.content_type AS "contentType", r.callbacks, r.max_retries AS "maxRetries", r.queue, r.labels, r.qstash`

async function readSources(call: Call, from: string, limit: number): Promise<Array<TaskFields | RunFields>> {
  const [runs, tasks] = await Promise.all([readRuns(call, from, limit), readTasks(call, from, limit)])
  return [...runs, ...tasks].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
}

// Returns the events of the first sources, up to those whose bodies reach a number of bytes. The first source may have
// been sent already, so there are two at least.
async function withPayloads({ ctx }: Call, sources: ReadonlyArray<TaskFields | RunFields>, maxBytes: number) {
  let sum = 0
  const shown = sources.filter(({ bytes }, i) => {
    sum += bytes
    return i < 2 || sum - bytes < maxBytes
  })
  const text = 'SELECT task_id AS id, payload FROM task_requests WHERE task_id = ANY ($1::uuid[])'
  const ids = [...new Set(shown.map(({ taskId }) => taskId))]
  const { rows } = await ctx.pool.query<{ id: string; payload: string | null }>(text, [ids])
  const payloads = new Map(rows.map(({ id, payload }) => [id, payload]))
  return shown.map(source => {
    const filled = { ...source, payload: payloads.get(source.taskId) ?? null }
    return {
      id: source.id,
      bytes: source.bytes,
      events: 'status' in filled ? eventsOfRun(filled) : eventsOfTask(filled),
    }
  })
}

async function readRuns(call: Call, from: string, limit: number): Promise<RunFields[]> {
  const { ctx, query } = call
  const found = conditionsFor(call, 'u', from)
  const statuses = readList(query, 'responseStatus').map(toStatus)
  if (statuses.length > 0) found.and('u.response_status = ANY (?::int[])', statuses)
  const text = `
    SELECT u.id, u.status, u.started_at AS "startedAt", u.finished_at AS "endedAt",
           u.response_status AS "responseStatus", u.error_message AS "errorMessage", t.run_id = u.id AS "isLast",
           ${columns}
    FROM runs u JOIN tasks t ON t.id = u.task_id JOIN task_requests r ON r.task_id = u.task_id
    WHERE ${found.text} ORDER BY u.workspace_id, u.id DESC LIMIT ${limit}`
  return (await ctx.pool.query<RunFields>(text, found.values)).rows
}

// The index of a workspace's tasks has their states first.
async function readTasks(call: Call, from: string, limit: number): Promise<TaskFields[]> {
  if (call.query.has('responseStatus')) return [] // only attempts have a status
  const found = conditionsFor(call, 't', from)
  const text = `
    SELECT found.* FROM unnest(enum_range(NULL::task_state)) AS s (state) CROSS JOIN LATERAL (
      SELECT t.id, ${columns}
      FROM tasks t JOIN task_requests r ON r.task_id = t.id
      WHERE t.state = s.state AND ${found.text} ORDER BY t.workspace_id, t.state, t.id DESC LIMIT ${limit}
    ) found
    ORDER BY id DESC LIMIT ${limit}`
  return (await call.ctx.pool.query<TaskFields>(text, found.values)).rows
}

function conditionsFor({ caller, query }: Call, alias: 'u' | 't', upTo: string) {
  const { from, to } = readTimes(query)
  const found = where()
  found.and(`${alias}.workspace_id = ? AND ${alias}.id <= ?`, caller.workspaceId, upTo)
  found.and(`${alias}.id >= ? AND ${alias}.id < ?`, firstUuidAt(from.getTime()), firstUuidAt(to.getTime() + 1))
  for (const condition of conditionsOf(readFilter(query, ownParameters), found.add)) found.and(condition)
  return found
}

function eventsOfTask(task: TaskFields): Event[] {
  const created = eventOf(task, 'CREATED', task.createdAt, { nextDeliveryTime: task.dueAt.getTime() })
  if (task.state !== 'cancelled') return [created]
  return [eventOf(task, 'CANCELED', task.finishedAt ?? task.createdAt), created]
}

function eventsOfRun(run: RunFields): Event[] {
  const active = eventOf(run, 'ACTIVE', run.startedAt)
  const { responseStatus } = run
  const status = responseStatus === null ? {} : { responseStatus }
  if (run.status === 'success') return [eventOf(run, 'DELIVERED', run.endedAt, status), active]
  const error = eventOf(run, 'ERROR', run.endedAt, { ...status, error: run.errorMessage ?? '' })
  if (run.isLast && run.state === 'dead') {
    return [eventOf(run, 'FAILED', run.finishedAt ?? run.endedAt, status), error, active]
  }
  const next = run.isLast && run.state === 'retrying' ? { nextDeliveryTime: run.dueAt.getTime() } : {}
  return [eventOf(run, 'RETRY', run.endedAt, next), error, active]
}

function eventOf(task: TaskFields, state: string, time: Date, more: Record<string, unknown> = {}): Event {
  const { topicName, endpointName, scheduleId } = fieldsOf(task)
  const request = presentRequest(task)
  return {
    time: time.getTime(),
    state,
    messageId: toId('msg', task.taskId),
    url: task.url,
    topicName,
    endpointName,
    scheduleId,
    ...request,
    // The log has every body in base64.
    body: request.body === undefined ? request.bodyBase64 : Buffer.from(request.body).toString('base64'),
    bodyBase64: undefined,
    ...more,
  }
}
