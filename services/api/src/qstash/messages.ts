import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { isPrefetched, openTo } from '@belfry/db/bulk-operations/bulk-operations'
import type { StoredRequest } from '@belfry/db/tasks/stored-request'
import { findMatchingTasks, type TaskFilter } from '@belfry/db/tasks/task-filter'
import { notFound } from '@belfry/domain/app-error'
import { fromId, NIL_UUID, toId } from '@belfry/domain/id'
import type { QstashFields } from '@belfry/domain/qstash/qstash-fields'
import { headerLists, payloadOf } from '@belfry/present/payload-of'
import type { StoredPayload } from '@belfry/present/task-row'
import { endDecided } from '../bulk-operations/bulk-operations.ts'
import { findTask } from '../tasks/read-tasks.ts'
import { type Call, on, type QstashRoutes, readFilters } from './call.ts'
import { readCount, readFilter, readTimes } from './message-filter.ts'
import { flowControlOfQueue } from './publish/message-task.ts'

export const messageRoutes: QstashRoutes = [
  ['/messages', { delete: on('task.delete', cancelMessages) }],
  [
    '/messages/:id',
    {
      get: on('task.read', async call => presentMessage(await readMessage(call))),
      delete: on('task.delete', cancelMessage),
    },
  ],
]

async function cancelMessage(call: Call<'task.delete'>) {
  const { ctx, caller } = call
  const { id, finishedAt } = await readMessage(call)
  if (finishedAt !== null) throw notFound()
  const cancelled = await endDecided(ctx, caller, [id], 'cancel')
  // It may have started to wait for a retry meanwhile.
  return { cancelled: cancelled || (await endDecided(ctx, caller, [id], 'stop')) }
}

// By ids, by filters, or all; at most `count` of them.
async function cancelMessages(call: Call<'task.delete'>) {
  const query = await readFilters(call)
  const { from, to } = readTimes(query)
  const filter = readFilter(query, ['count', 'cursor', 'fromDate', 'toDate'])
  const max = readCount(query, Number.POSITIVE_INFINITY)
  return { cancelled: await cancelMatching(call, { ...filter, created_from: from, created_to: to }, max) }
}

const maxAtOnce = 1_000

/** Cancels or stops the messages that a filter selects, up to `max` of them. Returns how many. */
export async function cancelMatching(
  { ctx, caller }: Call<'task.delete'>,
  filter: TaskFilter,
  max = Number.POSITIVE_INFINITY,
): Promise<number> {
  const among = { also: isPrefetched, maxScanned: null }
  let cancelled = 0
  for (const action of ['cancel', 'stop'] as const) {
    for (let isDone = false; !isDone && cancelled < max; ) {
      const limit = Math.min(max - cancelled, maxAtOnce)
      const { ids } = await findMatchingTasks(ctx.pool, caller.workspaceId, openTo(action), filter, limit, among)
      const ended = ids.length === 0 ? 0 : await endDecided(ctx, caller, ids, action)
      cancelled += ended
      isDone = ended === 0 || ids.length < limit
    }
  }
  return cancelled
}

async function readMessage({ ctx, caller, name: id }: Call) {
  const row = await findTask(ctx.pool, caller.workspaceId, fromId('msg', id) ?? NIL_UUID)
  if (!row) throw notFound()
  return row
}

/** The request of a message or a schedule, as it is stored. */
export type RequestRow = StoredRequest &
  StoredPayload & { labels?: readonly string[] | null; createdAt: Date } & ({ id: string } | { taskId: string })

/** Reads what a stored request has beyond a task. */
export function fieldsOf({ qstash }: Pick<StoredRequest, 'qstash'>): Partial<QstashFields> {
  return qstash ? (JSON.parse(qstash) as QstashFields) : {}
}

/** Returns the request of a message or a schedule in the form of QStash. Undefined members are not sent. */
export function presentRequest(row: RequestRow) {
  const { callbacks, queue = null, method, maxRetries, labels } = row
  const fields = fieldsOf(row)
  const stored = (callbacks ? JSON.parse(callbacks) : {}) as Record<string, { url: string } | undefined>
  const flowControlKey = queue === null ? null : flowControlOfQueue(queue)
  return {
    method,
    header: presentHeaders(row, fields),
    ...presentBody(row, fields),
    maxRetries,
    retryDelayExpression: fields.retryDelay,
    callback: stored.on_attempt?.url,
    failureCallback: stored.on_failure?.url,
    queueName: flowControlKey === null ? (queue ?? undefined) : undefined,
    callerIP: fields.callerIP,
    callerIp: fields.callerIP,
    ...presentFlowControl(fields, flowControlKey),
    // Clients that know one label only read the first.
    ...(labels?.length && { label: labels[0], labels }),
  }
}

export function presentMessage(row: RequestRow & { id: string; executeAt: Date; createdAt: Date }) {
  const fields = fieldsOf(row)
  return {
    messageId: toId('msg', row.id),
    url: row.url,
    ...presentRequest(row),
    topicName: fields.topicName,
    endpointName: fields.endpointName,
    scheduleId: fields.scheduleId,
    notBefore: row.executeAt.getTime(),
    createdAt: row.createdAt.getTime(),
  }
}

/** Returns a body as text, or in base64 when it is not UTF-8. */
export function presentBytes<Name extends string>(bytes: Buffer, name: Name) {
  const presented = isUtf8(bytes) ? { [name]: bytes.toString() } : { [`${name}Base64`]: bytes.toString('base64') }
  return presented as { [Member in Name | `${Name}Base64`]?: string }
}

function presentFlowControl({ flowControl }: Partial<QstashFields>, flowControlKey: string | null) {
  if (flowControlKey === null) return {}
  const { parallelism, rate, period = 1 } = flowControl ?? {}
  return { flowControlKey, parallelism, rate, ...(rate !== undefined && { period }) }
}

function presentHeaders({ headers, contentType }: RequestRow, { redact = [] }: Partial<QstashFields>) {
  const all: Record<string, string> = { ...(contentType && { 'Content-Type': contentType }), ...JSON.parse(headers) }
  for (const name in all) if (redactsHeader(redact, name)) all[name] = redacted(all[name] ?? '')
  return headerLists(all)
}

function presentBody(row: RequestRow, { redact = [] }: Partial<QstashFields>): { body?: string; bodyBase64?: string } {
  const payload = payloadOf(row, 'taskId' in row ? row.taskId : row.id, row.createdAt)
  if (!payload) return {}
  if (redact.includes('body')) return { body: redacted(payload) }
  return row.contentType ? presentBytes(Buffer.from(payload, 'base64'), 'body') : { body: payload }
}

// What answers show in place of a value that its publisher has redacted: the same values look the same.
function redacted(value: string): string {
  return `REDACTED:${createHash('sha256').update(value).digest('hex')}`
}

function redactsHeader(redact: readonly string[], name: string): boolean {
  return redact.some(field => field === 'header' || field.toLowerCase() === `header[${name.toLowerCase()}]`)
}
