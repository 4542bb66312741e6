import type { PublishEventBody } from '@belfry/contract/event'
import { operations } from '@belfry/contract/operations'
import type { Task } from '@belfry/contract/task'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { hasControls, type NewTask, type TaskControls } from '@belfry/db/tasks/insert-tasks'
import type { StoredRequest } from '@belfry/db/tasks/stored-request'
import { AppError, type FieldError } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { memberText } from '@belfry/domain/json-text'
import { labelFiller } from '@belfry/domain/label'
import { matchesFilter } from '@belfry/domain/payload-filter'
import { mapInTurns } from '@belfry/domain/slices'
import { patternsOf } from '@belfry/domain/topic'
import { presentNewTask } from '@belfry/present/task-form'
import { requireReader } from '../auth/authorize.ts'
import { creation } from '../endpoint.ts'
import { ApiResponse } from '../http/response.ts'
import {
  inspectRequest,
  mergeCallbacks,
  queueNameOf,
  toLabels,
  toRequestOptions,
  toStoredCallbacks,
  toStoredRequest,
} from '../tasks/new-task.ts'
import { schedule } from '../tasks/schedule.ts'
import { presentStored, storeTask, storeTasks } from '../tasks/store-tasks.ts'
import type { StoredMcp } from './subscriptions.ts'

// Limits the data that one request makes the database write and the response repeat.
const maxBytes = 16 * 1024 * 1024

export const publishEvent = creation(operations.publishEvent, {
  storesResponse: body =>
    body.target_url !== undefined && !hasControls(Object.assign(toControls(body), toRequestOptions(body))),
  inspect: (ctx, body) => [...inspectRequest(ctx, body, 'target_url'), ...inspectConnection(body)],
  async handle(work, input) {
    const { caller, body, bodyText } = input
    const { target_url: url, topic } = body
    const payload = memberText(bodyText, ['payload']) ?? null
    if (url === undefined) requireReader(caller, 'subscription.read', { callbacks: toStoredCallbacks(body) })
    const targets =
      url === undefined
        ? await findTargets(work.db, caller.workspaceId, { text: payload, ...body }, queueNameOf(body.queue) ?? null)
        : [Object.assign(toStoredRequest({ url, method: 'POST', ...body }, bodyText), toControls(body))]
    if (targets.length * Buffer.byteLength(payload ?? '') > maxBytes) throw tooLarge(targets.length)
    const eventId = newUuid()
    const fill = labelFiller(payload)
    const tasks = targets.map(target => {
      const task: NewTask = {
        id: newUuid(),
        workspaceId: caller.workspaceId,
        source: 'event',
        executeAt: null,
        name: topic,
        topic,
        eventId,
        replayOf: null,
        traceparent: null,
        createdBy: null,
        depth: null,
        payload,
        ...target,
      }
      task.labels = target.labels ? toLabels(fill(target.labels)) : null
      return task
    })
    const answer = (presented: Task[]) =>
      new ApiResponse({ status: 202, body: { id: toId('evt', eventId), topic, tasks: presented } })
    const { response } = await schedule(work, input, {
      starts: 'at_once',
      rows: tasks,
      written:
        url === undefined
          ? [{ headers: JSON.stringify(body.headers), payload, callbacks: toStoredCallbacks(body) }]
          : tasks,
      payload,
      fanOut: tasks.length - 1,
      queues: [body.queue],
      async store(work) {
        const [first] = tasks
        if (first && tasks.length === 1) {
          return storeTask(work, first, input.arrivedAt, createdAt => answer([presentNewTask(first, createdAt)]))
        }
        const { results, ...stored } = await storeTasks(work, tasks)
        const presented = await mapInTurns(tasks, (task, i) => presentStored(task, results[i], new Map()))
        return { response: answer(presented), ...stored }
      },
    })
    return response
  },
})

function inspectConnection(body: unknown): FieldError[] {
  const { connection = null, target_url: url } = Object(body) as { connection?: unknown; target_url?: unknown }
  if (connection === null || url !== undefined) return []
  const message = 'connection needs a target_url: subscriptions have connections of their own.'
  return [{ path: 'connection', code: 'invalid_value', message }]
}

function tooLarge(targets: number): AppError {
  const detail = `The payload goes to ${targets} subscriptions; together that may be at most ${maxBytes} bytes.`
  return new AppError('payload_too_large', `${detail} Send a reference instead of the data.`)
}

type Target = Omit<StoredRequest, 'payload'> &
  Partial<Pick<StoredRequest, 'payload'>> &
  Pick<TaskControls, 'maxAgeMs' | 'labels'> &
  Pick<NewTask, 'subscriptionId' | 'isMissed' | 'isReport'>

function toControls({ max_age_ms, labels }: Pick<PublishEventBody, 'max_age_ms' | 'labels'>) {
  return { maxAgeMs: max_age_ms ?? null, labels: toLabels(labels) } satisfies TaskControls
}

/**
 * Finds the targets of an event without explicit ones: the active subscriptions to its topic whose filters it matches.
 * If Belfry has switched a subscription off, the event becomes its dead letter.
 */
async function findTargets(
  db: Db,
  workspaceId: string,
  event: PublishEventBody & { text: string | null },
  queue: string | null,
): Promise<Target[]> {
  const text = `
    SELECT url, 'POST' AS method, headers, max_retries AS "maxRetries", backoff, base_delay_ms AS "baseDelayMs",
           max_delay_ms AS "maxDelayMs", timeout_ms AS "timeoutMs", queue, connection, callbacks,
           retry_delays AS "retryDelays", max_age_ms AS "maxAgeMs", labels, filter, mcp,
           CASE WHEN paused_reason IS NOT NULL THEN true END AS "isMissed", coalesce((
             SELECT o.subscription_id FROM subscription_secrets o
             WHERE o.subscription_id = subscriptions.id AND o.expires_at IS NULL
           ), CASE WHEN failing_since IS NOT NULL THEN id END) AS "subscriptionId"
    FROM subscriptions WHERE workspace_id = $1 AND active AND topic = ANY ($2::text[])
      AND (expires_at IS NULL OR expires_at > now())
    ORDER BY id`
  const query = { name: 'find_targets', text, values: [workspaceId, patternsOf(event.topic)] }
  const { rows } = await db.query<Target & { filter: string | null; mcp: StoredMcp | null }>(query)
  const matching = rows.filter(({ filter }) => filter === null || matchesFilter(JSON.parse(filter), event.payload))
  return matching.map(({ filter: _, mcp, ...row }) =>
    Object.assign(row, mcp && { payload: eventPayload(mcp, event), isReport: true }, {
      queue: queue ?? row.queue ?? null,
      // What the headers of an event prove to the targets of the workspace is not for an MCP client.
      headers: mcp ? row.headers : JSON.stringify(mergeHeaders(event.headers, JSON.parse(row.headers))),
      callbacks: mergeCallbacks(row.callbacks, toStoredCallbacks(event)),
      maxAgeMs: earlier(event.max_age_ms, row.maxAgeMs),
      labels: toLabels([...new Set([...(row.labels ?? []), ...(event.labels ?? [])])]),
    }),
  )
}

// Both deadlines hold.
function earlier(ofEvent: number | null | undefined, own: number | null | undefined): number | null {
  const ages = [ofEvent, own].filter(age => typeof age === 'number')
  return ages.length === 0 ? null : Math.min(...ages)
}

// The target may need the headers of its subscription, so an event does not replace them.
function mergeHeaders(ofEvent: Record<string, string>, own: Record<string, string>): Record<string, string> {
  const taken = new Set(Object.keys(own).map(name => name.toLowerCase()))
  const added = Object.entries(ofEvent).filter(([name]) => !taken.has(name.toLowerCase()))
  return Object.fromEntries([...added, ...Object.entries(own)])
}

// A receiver may refuse more than 256 KiB, and the event has an envelope.
const maxDataBytes = 261_000

/**
 * Returns the payload of a task that sends a published event, of which `payloadOf` makes the body.
 * @param event - `text`: its payload, or null.
 */
function eventPayload({ name, principal }: StoredMcp, { topic, text }: { topic: string; text: string | null }): string {
  const whole = principal === null ? `{"topic":${JSON.stringify(topic)},"payload":${text ?? '{}'}}` : (text ?? '{}')
  const bytes = Buffer.byteLength(whole)
  return `{"name":${JSON.stringify(name)},"data":${bytes > maxDataBytes ? `{"omitted_bytes":${bytes}}` : whole}}`
}
