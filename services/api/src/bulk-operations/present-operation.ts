import type { BulkOperation, DeadLetterOperation, TaskOperation } from '@belfry/contract/bulk-operation'
import type { RunErrorCode } from '@belfry/contract/run'
import type { BulkOperation as Row } from '@belfry/db/bulk-operations/bulk-operations'
import { type IdKind, toId } from '@belfry/domain/id'

/** Returns the public form of an operation. */
export function presentOperation(row: Row): BulkOperation {
  const { action, perSecond: per_second, done } = row
  return {
    ...presentProgress(row),
    ...{ action, ids: idsOf('task', row.filter.ids), filter: presentFilter(row.filter), per_second, done },
  }
}

/** Returns the form of a cancel or a stop. */
export function presentTaskOperation(row: Row): TaskOperation {
  const { host: _, error: __, response_status: ___, ...filter } = presentFilter(row.filter)
  const action = row.action as TaskOperation['action'] // the caller has asked for this kind
  return { ...presentProgress(row), action, filter, ended: row.done }
}

/** Returns the form of a replay or a discard, whose filter has one value where others have a list. */
export function presentDeadLetterOperation(row: Row): DeadLetterOperation {
  const { cronjob_id, topic, label, from, to, name, host, error, response_status } = presentFilter(row.filter)
  const sameForm = { from, to, name, host, error, response_status }
  return {
    ...presentProgress(row),
    action: row.action as DeadLetterOperation['action'], // the caller has asked for this kind
    filter: { ...sameForm, cronjob_id: only(cronjob_id), topic: only(topic), label: only(label) },
    per_second: row.perSecond,
    settled: row.done,
  }
}

function presentProgress(row: Row) {
  return {
    id: toId('op', row.id),
    workspace_id: toId('ws', row.workspaceId),
    status: statusOf(row),
    total: row.total,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

function statusOf({ cancelled, finishedAt }: Row): TaskOperation['status'] {
  if (cancelled) return 'cancelled'
  return finishedAt === null ? 'running' : 'done'
}

/** Returns the public form of a filter, without its ids. */
export function presentFilter(filter: Row['filter']) {
  return {
    source: filter.source ?? null,
    cronjob_id: idsOf('cron', filter.cronjob_id),
    event_id: idsOf('evt', filter.event_id),
    topic: filter.topic ?? null,
    label: filter.label ?? null,
    queue: filter.queue ?? null,
    callback_of: idsOf('task', filter.callback_of),
    name: filter.name ?? null,
    from: timeOf(filter.from),
    to: timeOf(filter.to),
    upcoming: filter.upcoming ?? null,
    host: filter.host ?? null,
    error: (filter.error ?? null) as RunErrorCode[] | null, // checked when the operation was started
    response_status: filter.response_status ?? null,
  }
}

function idsOf(kind: IdKind, uuids: string[] | undefined): string[] | null {
  return uuids?.map(uuid => toId(kind, uuid)) ?? null
}

function timeOf(time: Date | string | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString()
}

function only(values: string[] | null): string | null {
  return values?.length === 1 ? (values[0] ?? null) : null
}
