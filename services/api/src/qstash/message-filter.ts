import { hasLabel } from '@belfry/db/tasks/task-labels'
import { fromId, NIL_UUID } from '@belfry/domain/id'
import { type Where, where } from '../http/where.ts'
import { queueOfFlowControl } from './publish/message-task.ts'
import { badRequest } from './qstash-error.ts'

// The condition of each filter. Several values of one filter mean any of them.
const conditions: Record<string, (found: Where, values: string[]) => void> = {
  messageId: (found, values) => found.and('t.id = ANY (?::uuid[])', uuidsOf('msg', values)),
  messageIds: (found, values) => found.and('t.id = ANY (?::uuid[])', uuidsOf('msg', values)),
  dlqIds: (found, values) => found.and('t.id = ANY (?::uuid[])', uuidsOf('dlq', values)),
  dlqId: (found, values) => found.and('t.id = ANY (?::uuid[])', uuidsOf('dlq', values)),
  url: (found, values) => found.and('r.url = ANY (?::text[])', values),
  host: (found, values) =>
    found.and(`lower(split_part(split_part(r.url, '/', 3), chr(63), 1)) = ANY (?::text[])`, values.map(lower)),
  path: (found, values) =>
    found.and(
      `'/' || array_to_string((string_to_array(split_part(r.url, chr(63), 1), '/'))[4:], '/') = ANY (?::text[])`,
      values,
    ),
  topicName: (found, values) => found.and(`r.qstash::json ->> 'topicName' = ANY (?::text[])`, values),
  scheduleId: (found, values) => found.and(`r.qstash::json ->> 'scheduleId' = ANY (?::text[])`, values),
  endpointName: (found, values) => found.and(`r.qstash::json ->> 'endpointName' = ANY (?::text[])`, values),
  callerIp: (found, values) => found.and(`r.qstash::json ->> 'callerIP' = ANY (?::text[])`, values),
  queueName: (found, values) => found.and('r.queue = ANY (?::text[])', values),
  flowControlKey: (found, values) => found.and('r.queue = ANY (?::text[])', values.map(queueOfFlowControl)),
  label: (found, values) =>
    found.and(
      hasLabel('t', '?'),
      values.flatMap(value => value.split(',')),
    ),
  // No message of Belfry has an API of a provider.
  api: found => found.and('false'),
}

const lower = (text: string) => text.toLowerCase()

/**
 * Returns the conditions of the filters in a query, for the task `t` and its request `r`.
 * @param others - Parameters that the caller reads itself.
 * @throws QstashError for a filter that does not exist: without it, the caller would act on other messages.
 */
export function messagesWhere(query: URLSearchParams, others: readonly string[], start: Where = where()): Where {
  for (const name of new Set(query.keys())) {
    if (others.includes(name)) continue
    const condition = Object.hasOwn(conditions, name) ? conditions[name] : undefined
    if (!condition) throw badRequest(`unknown filter: ${name}`)
    condition(start, query.getAll(name))
  }
  return start
}

/** Reads a time of a query, in epoch milliseconds. */
export function readTime(query: URLSearchParams, name: string): Date | null {
  const value = query.get(name)
  if (value === null) return null
  if (/^\d{1,14}$/.test(value)) return new Date(Number(value))
  throw badRequest(`invalid ${name}: it must be a Unix timestamp in milliseconds`)
}

/** Reads `count`: at most 100, which is also the default. */
export function readCount(query: URLSearchParams): number {
  const value = query.get('count') ?? '100'
  if (/^\d{1,9}$/.test(value) && Number(value) > 0) return Math.min(100, Number(value))
  throw badRequest('invalid count: it must be a positive number')
}

/** Reads the statuses of responses that a query asks for; null when it asks for none. */
export function readStatuses(query: URLSearchParams): number[] | null {
  const values = query.getAll('responseStatus')
  if (values.some(value => !/^\d{1,3}$/.test(value))) throw badRequest('invalid responseStatus: it must be a number')
  return values.length === 0 ? null : values.map(Number)
}

/** Returns the UUIDs of ids. A malformed one gets the same answer as an unknown one. */
function uuidsOf(kind: 'msg' | 'dlq', ids: readonly string[]): string[] {
  return ids.map(id => fromId(kind, id) ?? NIL_UUID)
}
