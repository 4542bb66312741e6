import { type Callback, type CallbackEvent, callbackEvents } from '@belfry/contract/callback'
import type { QueueField } from '@belfry/contract/queue'
import type { Retry, RetryChange } from '@belfry/contract/retry'
import type { CreateTaskBody, UpdateTaskBody } from '@belfry/contract/task'
import type { StoredRequest } from '@belfry/db/tasks/stored-request'
import type { FieldError } from '@belfry/domain/app-error'
import { memberText } from '@belfry/domain/json-text'
import { retryDefaults } from '@belfry/domain/retry'
import { presentCallbacks } from '@belfry/present/task-form'
import type { Context } from '../context.ts'
import { inspectTarget } from '../http/inspect-target.ts'

type RawBody = Pick<CreateTaskBody, 'payload_base64' | 'content_type'>
type Shared =
  | 'url'
  | 'method'
  | 'headers'
  | 'retry'
  | 'timeout_ms'
  | 'queue'
  | 'connection'
  | 'on_success'
  | 'on_failure'
  | 'on_attempt'
type NewBody = Pick<CreateTaskBody, Shared> & RawBody
type ChangedBody = Pick<UpdateTaskBody, Shared> & RawBody

// A header overrides it when the request is sent.
const defaultContentType = 'application/octet-stream'

/** Returns the request of a new task or cron job. The payload is a slice of the body, so its bytes do not change. */
export function toStoredRequest(body: NewBody, bodyText: string): StoredRequest {
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
export function toRequestChange(body: ChangedBody, bodyText: string) {
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
  }
}

/** Returns the name in a `queue` field: undefined when it is absent, null when the body removes the queue. */
export function queueNameOf(queue: QueueField | null | undefined): string | null | undefined {
  return typeof queue === 'object' && queue !== null ? queue.name : queue
}

type StoredRetry = Required<
  Pick<StoredRequest, 'maxRetries' | 'backoff' | 'baseDelayMs' | 'maxDelayMs' | 'retryDelays'>
>

/** Returns the columns of a retry policy. Beside a list, the columns of a policy have the defaults. */
export function toStoredRetry(retry: Retry): StoredRetry {
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
export function toRetryChange({ delays_ms, ...policy }: RetryChange) {
  return {
    maxRetries: delays_ms?.length ?? policy.max_retries,
    backoff: policy.backoff,
    baseDelayMs: policy.base_delay_ms,
    maxDelayMs: policy.max_delay_ms,
    retryDelays: delays_ms ? JSON.stringify(delays_ms) : Object.keys(policy).length > 0 ? null : undefined,
  }
}

/** The callbacks in a body. */
export type Callbacks = { [Event in CallbackEvent]?: Callback | null | undefined }

/** Returns the stored form of the callbacks of a new object; null when it has none. */
export function toStoredCallbacks(body: Callbacks): string | null {
  const given = callbackEvents.flatMap(event => (body[event] ? [[event, body[event]]] : []))
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given))
}

/** Returns the stored form of a change of callbacks, in which null removes one; undefined when it changes none. */
export function toCallbackChange(body: Callbacks): string | undefined {
  const given = callbackEvents.flatMap(event => (body[event] === undefined ? [] : [[event, body[event]]]))
  return given.length === 0 ? undefined : JSON.stringify(Object.fromEntries(given))
}

/** Returns the stored callbacks of a subscription, in which those of an event replace its own. */
export function mergeCallbacks(stored: string | null | undefined, event: Callbacks): string | null {
  return toStoredCallbacks(Object.assign({}, presentCallbacks(stored), JSON.parse(toStoredCallbacks(event) ?? '{}')))
}

/** Returns the stored form of callbacks after a change. */
export function changeCallbacks(stored: string | null, change: Callbacks): string | null {
  return toStoredCallbacks(Object.assign({}, presentCallbacks(stored), JSON.parse(toCallbackChange(change) ?? '{}')))
}

/** Returns an error for each callback whose host is visibly a private address. */
export function inspectCallbacks(ctx: Pick<Context, 'config'>, body: unknown): FieldError[] {
  const members = Object(body) as Record<string, unknown>
  return callbackEvents.flatMap(event => (members[event] ? inspectTarget(ctx, members[event], 'url', `${event}.`) : []))
}
