import { type Callback, type CallbackEvent, callbackEvents } from '@belfry/contract/callback'
import type { QueueField } from '@belfry/contract/queue'
import { defaultContentType } from '@belfry/contract/raw-body'
import type { Retry, RetryChange } from '@belfry/contract/retry'
import type { CreateTaskBody, deliveryFields, requestFields, Task, UpdateTaskBody } from '@belfry/contract/task'
import type { NewTask, TaskControls } from '@belfry/db/tasks/insert-tasks'
import type { OnConflict } from '@belfry/db/tasks/store-under-key'
import type { optionColumns, StoredRequest } from '@belfry/db/tasks/stored-request'
import { AppError, type FieldError, invalid } from '@belfry/domain/app-error'
import { localTimeOf, parseInstantIn } from '@belfry/domain/cron/local-time'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import { newUuid } from '@belfry/domain/id'
import { memberText } from '@belfry/domain/json-text'
import { fillLabels } from '@belfry/domain/label'
import { retryDefaults } from '@belfry/domain/retry'
import { presentCallbacks } from '@belfry/present/task-form'
import type { Context } from '../context.ts'
import { inspectTarget } from '../http/inspect-target.ts'

/**
 * Returns the task that a body asks for. Without a time it is due at once.
 * @param bodyText - The text that the body was parsed from.
 * @param arrivedAt - When the request arrived, by the database's clock, in epoch milliseconds.
 */
export function toNewTask(
  workspaceId: string,
  body: Omit<CreateTaskBody, 'execute_at'> & { execute_at: Date | null },
  bodyText: string,
  arrivedAt: number,
) {
  const request = toStoredRequest(body, bodyText)
  const runsIfPast = body.on_past === 'run'
  const task: NewTask & { onConflict?: OnConflict } = {
    id: newUuid(),
    workspaceId,
    source: 'task',
    executeAt: runsIfPast && Number(body.execute_at) <= arrivedAt ? null : body.execute_at,
    name: body.name,
    topic: null,
    eventId: null,
    replayOf: null,
    traceparent: null,
    createdBy: null,
    depth: null,
    expiresAt: body.expires_at ?? null,
    key: body.key ?? null,
    labels: toLabels(body.labels && fillLabels(body.labels, request.contentType === null ? request.payload : null)),
    ...request, // last: V8 copies it without a transition for each property
  }
  if (body.on_conflict) task.onConflict = body.on_conflict
  if (runsIfPast) task.runsIfPast = true
  return task
}

export function toControls(body: Pick<CreateTaskBody, 'expires_at' | 'key' | 'labels'>): TaskControls {
  return { expiresAt: body.expires_at ?? null, key: body.key ?? null, labels: toLabels(body.labels) }
}

/** Returns labels as they are stored: null in place of an empty list. */
export function toLabels(labels: readonly string[] | undefined): readonly string[] | null {
  return labels?.length ? labels : null
}

/** Returns the errors in the body of a new or changed task that a schema cannot find. */
export const inspectTask = (ctx: Pick<Context, 'clock' | 'config'>, body: unknown, schemaErrors: FieldError[]) => [
  ...inspectRequest(ctx, body),
  ...inspectExecuteAt(ctx, body, schemaErrors),
  ...inspectControls(body),
]

const notFuture: FieldError = {
  path: 'execute_at',
  code: 'execute_at_not_future',
  message: 'execute_at must be later than now. To call a URL at once, use POST /api/events.',
}

/**
 * The refusal of a new or changed task whose time has come. A time that was in the future when the request arrived has
 * passed while the request waited for the database. That is not the caller's mistake, and the caller would not repeat a
 * refused request.
 * @param arrivedAt - When the request arrived, by the database's clock, in epoch milliseconds.
 */
export function executeAtPassed(executeAt: Date | null, arrivedAt: number): AppError {
  if (executeAt === null || executeAt.getTime() <= arrivedAt) return invalid('body', [notFuture])
  return new AppError('unavailable', 'execute_at passed while the request waited for the database. Send a later time.')
}

/**
 * Returns the error of a past execute_at in a body that has other errors, by this process's estimate of the database's
 * clock. For a body without other errors the database decides when it stores the task.
 */
function inspectExecuteAt(ctx: Pick<Context, 'clock'>, body: unknown, schemaErrors: FieldError[]): FieldError[] {
  if (schemaErrors.length === 0 || schemaErrors.some(({ path }) => path === 'execute_at')) return []
  const instant = Object(body).on_past === 'run' ? null : instantOf(body, 'execute_at')
  return instant && instant.getTime() <= ctx.clock.now() ? [notFuture] : []
}

const neverStartsError: FieldError = {
  path: 'expires_at',
  code: 'expires_at_not_after_execute_at',
  message: 'expires_at must be later than execute_at.',
}

/** The refusal of a change after which the deadline of a task would not be later than its time. */
export function neverStarts(): AppError {
  return invalid('body', [neverStartsError])
}

/** Returns the errors of a deadline that is not after the time of the task, and of `on_conflict` without a key. */
function inspectControls(body: unknown): FieldError[] {
  const { key, on_conflict } = Object(body) as Record<string, unknown>
  const errors: FieldError[] = []
  const until = instantOf(body, 'expires_at')
  const at = until && instantOf(body, 'execute_at')
  if (at && until <= at) errors.push(neverStartsError)
  if (on_conflict !== undefined && key === undefined) {
    errors.push({ path: 'key', code: 'required', message: 'key is required with on_conflict.' })
  }
  return errors
}

function instantOf(body: unknown, name: 'execute_at' | 'expires_at'): Date | null {
  const { [name]: text, timezone } = Object(body) as Record<string, unknown>
  const zone = typeof timezone === 'string' && isTimeZone(timezone) ? timezone : null
  return typeof text === 'string' ? parseInstantIn(zone, text) : null
}

/** Adds the local time to the answer to a request with a time zone. */
export function withLocalTime(task: Task, timezone: string | undefined): Task {
  if (timezone === undefined) return task
  return Object.assign(task, { local_time: localTimeOf(timezone, Date.parse(task.execute_at)), timezone })
}

type RequestField = Exclude<keyof typeof requestFields, 'name'> | keyof typeof deliveryFields

/** Returns what few requests have. A task with one of these is stored by another statement. */
export function toRequestOptions({ retry, connection }: Pick<CreateTaskBody, 'retry' | 'connection'>) {
  const { retryDelays } = toStoredRetry(retry)
  return { retryDelays, connection: connection ?? null } satisfies Record<
    Exclude<keyof typeof optionColumns, 'qstash'>,
    unknown
  >
}

/** Returns the request of a new task or cron job. The payload is a slice of the body, so its bytes do not change. */
export function toStoredRequest(body: Pick<CreateTaskBody, RequestField>, bodyText: string): StoredRequest {
  const { maxRetries, backoff, baseDelayMs, maxDelayMs, retryDelays } = toStoredRetry(body.retry)
  return {
    url: body.url,
    method: body.method,
    headers: JSON.stringify(body.headers),
    payload: body.payload_base64 ?? memberText(bodyText, ['payload']) ?? null,
    contentType: body.payload_base64 === undefined ? null : (body.content_type ?? defaultContentType),
    maxRetries,
    backoff,
    baseDelayMs,
    maxDelayMs,
    retryDelays,
    timeoutMs: body.timeout_ms,
    queue: queueNameOf(body.queue) ?? null,
    connection: body.connection ?? null,
    callbacks: toStoredCallbacks(body),
  }
}

/** Returns the changes of a request; fields that the body omits are undefined. */
export function toRequestChange(body: Pick<UpdateTaskBody, RequestField>, bodyText: string) {
  const json = memberText(bodyText, ['payload'])
  return {
    url: body.url,
    method: body.method,
    headers: body.headers && JSON.stringify(body.headers),
    payload: body.payload_base64 ?? json,
    contentType: body.payload_base64 === undefined ? json && null : (body.content_type ?? defaultContentType),
    ...(body.retry && toRetryChange(body.retry)),
    timeoutMs: body.timeout_ms,
    queue: queueNameOf(body.queue),
    connection: body.connection,
    callbacks: toCallbackChange(body),
  } satisfies Record<Exclude<keyof StoredRequest, 'qstash' | keyof StoredRetry>, unknown>
}

/** Returns the name in a `queue` field: undefined when it is absent, null when the body removes the queue. */
export function queueNameOf(queue: QueueField | null | undefined): string | null | undefined {
  return typeof queue === 'object' && queue !== null ? queue.name : queue
}

type StoredRetry = Required<
  Pick<StoredRequest, 'maxRetries' | 'backoff' | 'baseDelayMs' | 'maxDelayMs' | 'retryDelays'>
>

/** Returns the columns of a retry policy. Beside a list, the columns of a policy have the defaults. */
function toStoredRetry(retry: Retry): StoredRetry {
  if ('delays_ms' in retry) {
    const { backoff, baseDelayMs, maxDelayMs } = retryDefaults
    const retryDelays = JSON.stringify(retry.delays_ms)
    return { maxRetries: retry.delays_ms.length, backoff, baseDelayMs, maxDelayMs, retryDelays }
  }
  return {
    maxRetries: retry.max_retries,
    backoff: retry.backoff,
    baseDelayMs: retry.base_delay_ms,
    maxDelayMs: retry.max_delay_ms,
    retryDelays: null,
  }
}

/** Returns the changes of these columns; fields that the body omits are undefined. */
function toRetryChange({ delays_ms, ...policy }: RetryChange) {
  return {
    maxRetries: delays_ms?.length ?? policy.max_retries,
    backoff: policy.backoff,
    baseDelayMs: policy.base_delay_ms,
    maxDelayMs: policy.max_delay_ms,
    retryDelays: delays_ms ? JSON.stringify(delays_ms) : Object.keys(policy).length > 0 ? null : undefined,
  }
}

type Callbacks = { [Event in CallbackEvent]?: Callback | null | undefined }

export function toStoredCallbacks(body: Callbacks): string | null {
  const given = callbackEvents.flatMap(event => (body[event] ? [[event, body[event]]] : []))
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given))
}

/** Returns the stored form of a change of callbacks, in which null removes one; undefined if they stay. */
export function toCallbackChange(body: Callbacks): string | undefined {
  const given = callbackEvents.flatMap(event => (body[event] === undefined ? [] : [[event, body[event]]]))
  return given.length === 0 ? undefined : JSON.stringify(Object.fromEntries(given))
}

/** Returns stored callbacks after a change, e.g. with the callbacks of an event in their place. */
export function mergeCallbacks(stored: string | null | undefined, change: string | null): string | null {
  return toStoredCallbacks(Object.assign({}, presentCallbacks(stored), JSON.parse(change ?? '{}')))
}

/** Returns an error for the URL of a request, and each of its callbacks, whose host is visibly a private address. */
export function inspectRequest(ctx: Pick<Context, 'config'>, body: unknown, field = 'url'): FieldError[] {
  const members = Object(body) as Record<string, unknown>
  const ofCallback = (event: string) => (members[event] ? inspectTarget(ctx, members[event], 'url', `${event}.`) : [])
  return [...inspectTarget(ctx, body, field), ...callbackEvents.flatMap(ofCallback)]
}
