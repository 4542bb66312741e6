import type { CreateTaskBody, UpdateTaskBody } from '@belfry/contract'
import type { StoredRequest } from '@belfry/db'
import { memberText } from '@belfry/domain'
import { queueNameOf } from '../queues/name-queue.ts'
import { toCallbackChange, toStoredCallbacks } from './callbacks.ts'

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
  return {
    url: body.url,
    method: body.method,
    headers: JSON.stringify(body.headers),
    payload: body.payload_base64 ?? memberText(bodyText, ['payload']) ?? null,
    contentType: body.payload_base64 === undefined ? null : (body.content_type ?? defaultContentType),
    maxRetries: body.retry.max_retries,
    backoff: body.retry.backoff,
    baseDelayMs: body.retry.base_delay_ms,
    maxDelayMs: body.retry.max_delay_ms,
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
    maxRetries: body.retry?.max_retries,
    backoff: body.retry?.backoff,
    baseDelayMs: body.retry?.base_delay_ms,
    maxDelayMs: body.retry?.max_delay_ms,
    timeoutMs: body.timeout_ms,
    queue: queueNameOf(body.queue),
    connection: body.connection,
    callbacks: toCallbackChange(body),
  }
}
