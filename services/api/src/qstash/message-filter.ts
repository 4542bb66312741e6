import type { TaskFilter } from '@belfry/db/tasks/task-filter'
import { fromId, NIL_UUID } from '@belfry/domain/id'
import { queueOfFlowControl } from './publish/message-task.ts'
import { badRequest, notOffered, refuseUnstorable } from './qstash-error.ts'

// What each filter selects. Several values of one filter mean any of them.
const lists: Record<string, (values: string[]) => TaskFilter> = {
  messageId: ids => ({ ids: uuidsOf('msg', ids) }),
  messageIds: ids => ({ ids: uuidsOf('msg', ids) }),
  dlqId: ids => ({ ids: uuidsOf('dlq', ids) }),
  dlqIds: ids => ({ ids: uuidsOf('dlq', ids) }),
  url: url => ({ url }),
  host: hosts => ({ host: hosts.map(host => host.toLowerCase()) }),
  path: path => ({ path }),
  topicName: group => ({ group }),
  endpointName: endpoint => ({ endpoint }),
  scheduleId: schedule => ({ schedule }),
  callerIp: addresses => ({ caller_ip: addresses }),
  callerIP: addresses => ({ caller_ip: addresses }),
  queueName: queue => ({ queue }),
  flowControlKey: keys => ({ queue: keys.map(queueOfFlowControl) }),
  label: label => ({ label }),
  responseStatus: statuses => ({ status: statuses.map(toStatus) }),
  // Belfry does not support the APIs of providers, so this filter never matches.
  api: () => ({ ids: [] }),
}

/**
 * Reads the filters of a query. Different filters select the messages that match all of them.
 * @param others - Parameters that the caller reads itself.
 * @throws QstashError for a filter that does not exist: without it, the caller would act on other messages.
 */
export function readFilter(query: URLSearchParams, others: readonly string[]): TaskFilter {
  const filter: Record<string, unknown[]> = {}
  for (const name of new Set(query.keys())) {
    if (others.includes(name)) continue
    const list = Object.hasOwn(lists, name) ? lists[name] : undefined
    if (!list) throw badRequest(`unknown filter: ${name}`)
    for (const [member, values] of Object.entries<unknown>(list(readList(query, name)))) {
      const given = values as unknown[]
      filter[member] = filter[member]?.filter(value => given.includes(value)) ?? given
    }
  }
  return filter
}

// A comma within a URL or a path is not a separator.
const separators: Record<string, RegExp> = { url: /,(?=https?:)/i, path: /,(?=\/)/ }

/** Reads the values of a filter: repeated, or separated by commas. */
export function readList(query: URLSearchParams, name: string): string[] {
  const values = query.getAll(name).flatMap(text => text.split(separators[name] ?? ','))
  refuseUnstorable(values)
  return values
}

/** Reads `fromDate` and `toDate`, both inclusive. Default: all times. */
export function readTimes(query: URLSearchParams): { from: Date; to: Date } {
  return { from: readTime(query, 'fromDate', 0), to: readTime(query, 'toDate', endOf9999) }
}

const endOf9999 = Date.UTC(10_000, 0) - 1

function readTime(query: URLSearchParams, name: string, byDefault: number): Date {
  const value = query.get(name) ?? String(byDefault)
  if (/^\d{1,15}$/.test(value)) return new Date(Math.min(Number(value), endOf9999))
  throw badRequest(`invalid ${name}: it must be a Unix timestamp in milliseconds`)
}

/** The number of items of a list, by default and at most. */
export const defaultCount = 100

/** Reads `count`, a positive number, capped at `max`. Default: `max`. */
export function readCount(query: URLSearchParams, max = defaultCount): number {
  const value = query.get('count')
  if (value === null) return max
  if (/^\d{1,9}$/.test(value) && Number(value) > 0) return Math.min(max, Number(value))
  throw badRequest('invalid count: it must be a positive number')
}

export function toStatus(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text)
  throw badRequest('invalid responseStatus: it must be a number')
}

/** @throws QstashError for the order that no list of Belfry has. */
export function refuseOrder(query: URLSearchParams): void {
  const order = query.get('order') ?? newestFirst
  if (order !== newestFirst) throw notOffered(`The lists of Belfry have the order ${newestFirst}.`)
}

const newestFirst = 'latestFirst'

/** Returns the UUIDs of ids. A malformed one gets the same answer as an unknown one. */
function uuidsOf(kind: 'msg' | 'dlq', ids: readonly string[]): string[] {
  return ids.map(id => fromId(kind, id) ?? NIL_UUID)
}
