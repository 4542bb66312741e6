import { createHash } from 'node:crypto'
import type { QueueField } from '@belfry/contract/queue'
import { inTransaction, withDb } from '@belfry/db/postgres/in-transaction'
import { claimMessage } from '@belfry/db/qstash/deduplicate'
import type { NewTask } from '@belfry/db/tasks/insert-tasks'
import { toId } from '@belfry/domain/id'
import { parseJson } from '@belfry/domain/json-text'
import { matchesFilter } from '@belfry/domain/payload-filter'
import { decide } from '@belfry/domain/permissions'
import { mapInTurns } from '@belfry/domain/slices'
import { requireRight } from '../../auth/authorize.ts'
import { type Work, workOf } from '../../endpoint.ts'
import { ApiResponse } from '../../http/response.ts'
import { type Quota, readQuota } from '../../quotas/quotas.ts'
import { orRefusal } from '../../tasks/create-task.ts'
import { toNewTask } from '../../tasks/new-task.ts'
import { schedule } from '../../tasks/schedule.ts'
import { storeTasks } from '../../tasks/store-tasks.ts'
import { type Call, on, type Publication, type QstashRoutes, readJson, readPublication } from '../call.ts'
import { badRequest, notOffered, QstashError, refuseUnstorable } from '../qstash-error.ts'
import { storeSchedule } from '../schedules.ts'
import { type MessageOptions, refuseWorkflow } from './message-options.ts'
import {
  type Endpoint,
  queueDefaults,
  readDestination,
  readPublished,
  refuseUnpublishable,
  toBody,
  toPayload,
  toStoredFields,
} from './message-task.ts'

/**
 * The rest of the path after an expression is a destination. It must stay as it was sent, with its double slashes, its
 * escapes and its query.
 */
export const publishRoutes: QstashRoutes = [
  [/^\/publish\/./, { post: on('task.create', publishMessage) }],
  [/^\/enqueue\/([^/]+)\/./, { post: on('task.create', publishMessage) }],
  ['/batch', { post: on('task.create', publishBatch) }],
]

async function publishMessage(call: Call<'task.create'>): Promise<ApiResponse> {
  const publication = { ...(await readPublication(call)), ...(call.name !== '' && { queue: call.name }) }
  if (publication.headers['upstash-cron']) {
    return storeSchedule({ ...call, caller: requireRight(call.caller, 'cron_job.write') }, publication)
  }
  const quota = await readQuota(call.ctx, call.caller.organizationId)
  const prepared = await makeMessages(call, await checkPublication(call, quota, publication), { ...maxOfRequest })
  const [published = []] = await storePublications(call, [prepared])
  const isRepeated = published.every(({ deduplicated }) => deduplicated)
  return new ApiResponse({ status: isRepeated ? 202 : 201, body: prepared.isGroup ? published : published[0] })
}

const maxBytes = 5 * 1024 * 1024
const maxMessages = 1000

/**
 * Publishes several messages. A refused message does not affect the others, except in a workflow: its client would take the
 * answer of the batch for a run that has started.
 */
async function publishBatch(call: Call<'task.create'>) {
  const items = await readJson(call, maxBytes)
  if (!Array.isArray(items)) throw badRequest('the body is not a JSON array of messages')
  if (items.length > maxMessages) throw badRequest(`at most ${maxMessages} messages are allowed`)
  for (const { headers } of items.map(Object)) refuseWorkflow(readHeaders(headers))
  const quota = await readQuota(call.ctx, call.caller.organizationId)
  const room = { ...maxOfRequest }
  // One after the other, so their ids have the order of the batch.
  const prepared = await mapInTurns(items, async item => {
    const one = await orRefusal(() => checkPublication(call, quota, readItem(item)))
    return 'code' in one ? { error: one.message } : makeMessages(call, one, room)
  })
  const published = await storePublications(
    call,
    prepared.flatMap(one => ('error' in one ? [] : [one])),
  )
  return prepared.map(one => {
    if ('error' in one) return one
    const answers = published.shift() ?? []
    return one.isGroup ? answers : answers[0]
  })
}

function readItem(item: unknown): Publication {
  const { destination, headers, body, queue } = Object(item) as Record<string, unknown>
  if (typeof destination !== 'string') throw badRequest('a message has no destination')
  if (body !== undefined && body !== null && typeof body !== 'string')
    throw badRequest('the body of a message is not a string')
  const request = {
    destination,
    headers: readHeaders(headers),
    ...(typeof queue === 'string' && queue !== '' && { queue }),
  }
  refuseUnstorable(request)
  return { ...request, body: Buffer.from(body ?? '') }
}

// Some clients send a list of values for each name.
function readHeaders(headers: unknown): Record<string, string> {
  const entries = Object.entries(Object(headers) as Record<string, unknown>)
  return Object.fromEntries(
    entries.map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : String(value ?? '')]),
  )
}

type Published = { messageId: string; url?: string; deduplicated?: true }

/** The messages of a publication. */
type Prepared = { isGroup: boolean; messages: Message[] }

/** `hash`: by which it is deduplicated; null when it is not. */
type Message = { task: NewTask; queue: QueueField | null | undefined; hash: Buffer | null }

/**
 * Checks a publication, and finds the endpoints that it goes to.
 * @throws QstashError, or AppError.
 */
async function checkPublication(call: Call, quota: Quota, publication: Publication) {
  const { ctx, caller } = call
  const options = readPublished(ctx, publication)
  if (options.cron !== null) throw notOffered('A batch has no schedules: create each with POST /v2/schedules.')
  const destination = readDestination(ctx, publication.destination)
  const now = ctx.clock.now()
  const at = options.notBefore ?? now + options.delayMs
  const executeAt = at > now ? new Date(at) : null
  refuseUnpublishable(quota, publication.body, executeAt === null)
  const isGroup = 'group' in destination
  if (isGroup && (options.callback || options.failureCallback))
    for (const right of ['subscription.read', 'run.read'] as const) requireRight(caller, right)
  const endpoints = isGroup ? await endpointsOf(call, destination.group, publication.body) : [destination]
  return { publication, options, executeAt, payload: toPayload(publication.body, options), isGroup, endpoints }
}

/** What a request may make at most: of one publication, a URL group makes many messages. */
const maxOfRequest = { messages: 5_000, bytes: 16 * 1024 * 1024 }

/**
 * Makes the tasks of a publication, without storing them.
 * @param room - What the request may still make.
 * @throws QstashError (413)
 */
async function makeMessages(
  { ctx, caller }: Call,
  { publication, options, executeAt, payload, isGroup, endpoints }: Awaited<ReturnType<typeof checkPublication>>,
  room: typeof maxOfRequest,
): Promise<Prepared> {
  room.messages -= endpoints.length
  room.bytes -= endpoints.length * (publication.body.length + JSON.stringify(publication.headers).length)
  if (room.messages < 0 || room.bytes < 0) {
    const { messages, bytes } = maxOfRequest
    throw new QstashError(413, `a request makes at most ${messages} messages with ${bytes} bytes`)
  }
  const messages = await mapInTurns(endpoints, endpoint => {
    const body = { ...toBody(endpoint, options, payload), execute_at: executeAt, on_past: 'run' as const }
    const qstash = toStoredFields(endpoint, options, caller)
    const hash = hashOf(publication, options, endpoint, isGroup)
    return { task: { ...toNewTask(caller.workspaceId, body, '', ctx.clock.now()), qstash }, queue: body.queue, hash }
  })
  return { isGroup, messages }
}

async function storePublications(call: Call<'task.create'>, prepared: readonly Prepared[]): Promise<Published[][]> {
  const messages = prepared.flatMap(({ messages }) => messages)
  const { earlier } = await schedule(workOf(call.ctx), call, {
    starts: 'later', // `refuseUnpublishable` has decided about the others
    rows: messages.map(({ task }) => task),
    repeats: messages.filter(({ hash }) => hash !== null).length,
    fanOut: prepared.reduce((sum, { messages }) => sum + Math.max(0, messages.length - 1), 0),
    queues: messages.map(({ queue }) => queue),
    queueDefaults,
    store: work => storeMessages(work, messages),
  })
  // Of a group the caller knows the name.
  const seesEndpoints = decide(call.caller.actor, 'subscription.read').allowed
  const answer = ({ id, url }: NewTask, isGroup: boolean): Published => {
    const first = earlier.get(id)
    return {
      messageId: toId('msg', first ?? id),
      ...((seesEndpoints || !isGroup) && { url }),
      ...(first !== undefined && { deduplicated: true }),
    }
  }
  return prepared.map(({ isGroup, messages }) => messages.map(({ task }) => answer(task, isGroup)))
}

/** `earlier`: the messages that were not stored, with those that they repeat. */
async function storeMessages(work: Work, messages: readonly Message[]) {
  const earlier = new Map<string, string>()
  const store = async (work: Work) => {
    const tasks = messages.flatMap(({ task }) => (earlier.has(task.id) ? [] : [task]))
    const { due, now, added } = await storeTasks(work, tasks)
    return { due, now, added, earlier }
  }
  // In this order transactions do not wait for each other in a circle. The first of equal ones stays the first.
  const hashed = messages.flatMap(({ task, hash }) => (hash === null ? [] : [{ task, hash }]))
  hashed.sort((a, b) => Buffer.compare(a.hash, b.hash))
  if (hashed.length === 0) return store(work)
  return inTransaction(work.db, async db => {
    for (const { task, hash } of hashed) {
      const first = await claimMessage(db, task.workspaceId, hash, task.id)
      if (first !== null) earlier.set(task.id, first)
    }
    return store(withDb(work, db))
  })
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

async function endpointsOf({ ctx, caller }: Call, group: string, body: Buffer): Promise<Endpoint[]> {
  const text = `
    SELECT url, endpoint_name AS name, filter FROM subscriptions
    WHERE workspace_id = $1 AND topic = $2 AND active AND paused_reason IS NULL AND mcp IS NULL ORDER BY id`
  const query = { name: 'find_endpoints', text, values: [caller.workspaceId, group] }
  const { rows } = await ctx.pool.query<{ url: string; name: string | null; filter: string | null }>(query)
  if (rows.length === 0) throw new QstashError(404, `url group ${group} not found`)
  // A body that is not JSON has no members.
  const payload = rows.some(({ filter }) => filter !== null) ? parseJson(body.toString()) : undefined
  return rows
    .filter(({ filter }) => filter === null || matchesFilter(JSON.parse(filter), payload))
    .map(({ url, name }) => ({ url, topicName: group, ...(name !== null && { endpointName: name }) }))
}
